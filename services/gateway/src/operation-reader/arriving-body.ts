import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { HttpRequest, WholeRequest } from '@tollgate/plain-http/message';
import { Problem } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';
import { askForBody } from '../http/expect-continue.ts';
import { receiveWhole } from '../http/receive-whole.ts';

export type BodyLimits = {
  maxBytes: number;
  /** For silence of the caller. */
  idleTimeoutMs: number;
  /** From the start of reading to the end. */
  totalTimeoutMs: number;
};

/** The body's length as its head declares it; undefined if it comes in chunks. @throws {Problem} payload_too_large */
export function declaredBytes(
  req: HttpRequest,
  { maxBytes }: Pick<BodyLimits, 'maxBytes'>,
): number | undefined {
  const declared = fieldValues(req.rawHeaders, 'content-length')[0];
  if (declared === undefined) {
    return fieldValues(req.rawHeaders, 'transfer-encoding').length > 0 ? undefined : 0;
  }
  if (Number(declared) > maxBytes) throw new Problem('payload_too_large');
  return Number(declared);
}

/** A body that came with its head. @throws {Problem} payload_too_large */
export function arrivedBody(
  { wholeBody: body }: Pick<WholeRequest, 'wholeBody'>,
  { maxBytes }: Pick<BodyLimits, 'maxBytes'>,
): Buffer {
  if (body === null) return NOTHING;
  if (body.length > maxBytes) throw new Problem('payload_too_large');
  return body;
}

/**
 * A request's whole body; null if the caller has gone. `onLength` is told how many bytes have arrived.
 * @throws {Problem} (the promise) payload_too_large, request_timeout, and what `onLength` throws.
 */
export async function wholeBody(
  req: IncomingMessage,
  limits: BodyLimits,
  onLength: (bytes: number) => void,
): Promise<Buffer | null> {
  if (declaredBytes(req, limits) === 0) return NOTHING;
  // No event would follow.
  if (req.destroyed) return null;
  askForBody(req);
  return receiveWhole(req, (fail) => {
    const clock = startClock(req, limits, fail);
    return {
      received: (bytes) => {
        clock.progressed();
        if (bytes > limits.maxBytes) throw new Problem('payload_too_large');
        onLength(bytes);
      },
      stop: clock.stop,
    };
  });
}

/**
 * A body that is passed on as it arrives, with back-pressure. It is read up to `readAhead` bytes before anyone asks.
 * A Problem ends it: request_timeout, payload_too_large, and what `saw` throws of its bytes.
 */
export function streamedBody(
  req: IncomingMessage,
  limits: BodyLimits,
  { readAhead, saw }: { readAhead: number; saw: (chunk: Buffer) => void },
): Readable {
  let bytes = 0;
  const body = new Readable({
    highWaterMark: readAhead,
    read: () => req.resume(),
    destroy: (error, callback) => {
      clock.stop();
      // Destroying the request itself would end the connection, and the response with it.
      req.off('data', onData).off('end', onEnd).off('close', onBrokenOff);
      if (!req.readableEnded) req.pause();
      callback(error);
    },
  });
  const end = (error: Error) => body.destroy(error);
  const onData = (chunk: Buffer) => {
    bytes += chunk.length;
    clock.progressed();
    if (bytes > limits.maxBytes) {
      end(new Problem('payload_too_large'));
      return;
    }
    try {
      saw(chunk);
    } catch (error) {
      end(error as Error);
      return;
    }
    if (!body.push(chunk)) req.pause();
  };
  const onEnd = () => {
    req.off('close', onBrokenOff);
    body.push(null);
  };
  // A Problem, so that it isn't taken for a failure of the upstream.
  const onBrokenOff = () =>
    end(new Problem('invalid_request', { cause: new Error('the caller broke off its body') }));
  // It may end before anyone reads it.
  body.on('error', () => undefined);
  askForBody(req);
  const clock = startClock(req, limits, end);
  req.on('data', onData).once('end', onEnd).once('close', onBrokenOff);
  return body;
}

type BodyClock = { progressed: () => void; stop: () => void };

/** The time limits of a body, which don't count while the upstream is slow to read. */
function startClock(
  req: IncomingMessage,
  { idleTimeoutMs, totalTimeoutMs }: BodyLimits,
  onOverdue: (problem: Problem) => void,
): BodyClock {
  const stop = () => {
    clearTimeout(idle);
    clearTimeout(total);
  };
  const giveUp = () => {
    stop();
    onOverdue(
      new Problem('request_timeout', {
        detail: 'The body of the request did not arrive in time.',
        headers: { connection: 'close' },
      }),
    );
  };
  const idle = setTimeout(() => {
    if (req.isPaused()) idle.refresh();
    else giveUp();
  }, idleTimeoutMs);
  const total = setTimeout(() => {
    if (!req.complete) giveUp();
  }, totalTimeoutMs);
  return { progressed: () => idle.refresh(), stop };
}

const NOTHING = Buffer.alloc(0);
