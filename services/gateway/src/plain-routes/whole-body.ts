import type { IncomingMessage } from 'node:http';
import { Problem } from '@tollgate/http/problem';

export type WholeBodyLimits = {
  maxBytes: number;
  /** From the beginning of reading to the last byte. */
  timeoutMs: number;
  /** Bodies that may be under way at one time. */
  maxArriving: number;
};

/**
 * Reads bodies whole before anything that callers share is taken for them. When too many are under way, the oldest one
 * gives way: bodies here are small and arrive at once, so a slow one can't keep the others out.
 */
export function createReadWhole({
  maxBytes,
  timeoutMs,
  maxArriving,
}: WholeBodyLimits): (req: IncomingMessage) => Promise<Buffer | null> {
  /** Each fails its body. The oldest comes first. */
  const arriving = new Set<() => void>();

  /**
   * Null without a body, and where the caller has gone.
   * @throws {Problem} payload_too_large; request_timeout
   */
  return (req) =>
    new Promise((resolve, reject) => {
      const { 'content-length': declared, 'transfer-encoding': coding } = req.headers;
      if (Number(declared ?? 0) > maxBytes) {
        reject(tooLarge());
        return;
      }
      if (coding === undefined && Number(declared ?? 0) === 0) {
        resolve(null);
        return;
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      const end = () => {
        arriving.delete(giveUp);
        clearTimeout(timer);
        req.off('data', onData);
      };
      const fail = (problem: Problem) => {
        end();
        reject(problem);
      };
      const giveUp = () => {
        fail(new Problem('request_timeout', { detail: LATE, headers: { connection: 'close' } }));
      };
      const onData = (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) fail(tooLarge());
        else chunks.push(chunk);
      };
      const timer = setTimeout(giveUp, timeoutMs);
      arriving.add(giveUp);
      const [oldest] = arriving;
      if (arriving.size > maxArriving) oldest?.();
      req.on('data', onData);
      req.once('end', () => {
        end();
        resolve(Buffer.concat(chunks));
      });
      req.once('close', () => {
        end();
        resolve(null);
      });
    });
}

const LATE = 'The body of the request did not arrive in time.';

function tooLarge(): Problem {
  return new Problem('payload_too_large', { headers: { connection: 'close' } });
}
