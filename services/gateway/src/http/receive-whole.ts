import type { IncomingMessage } from 'node:http';
import { createGrowingBytes } from './growing-bytes.ts';

/** Watches a body that arrives, and may give it up. */
export type BodyWatch = {
  /** With each piece: how many bytes there are. @throws {Error} that the body fails with */
  received: (bytes: number) => void;
  /** Called once, however it ends. */
  stop: () => void;
};

/**
 * Reads a request's body whole; null if the caller goes away meanwhile. `watch` gets what fails it, and begins.
 * @throws {Error} (the promise) what it failed with. The rest is left unread: see discardRest.
 */
export function receiveWhole(
  req: IncomingMessage,
  watch: (fail: (error: Error) => void) => BodyWatch,
): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const body = createGrowingBytes();
    const end = () => {
      stop();
      req.off('data', onData).off('end', onEnd).off('close', onGone);
    };
    const fail = (error: Error) => {
      end();
      req.pause();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      body.append(chunk);
      try {
        received(body.view().length);
      } catch (error) {
        fail(error as Error);
      }
    };
    const onEnd = () => {
      end();
      resolve(body.view());
    };
    const onGone = () => {
      end();
      resolve(null);
    };
    const { received, stop } = watch(fail);
    req.on('data', onData).once('end', onEnd).once('close', onGone);
  });
}
