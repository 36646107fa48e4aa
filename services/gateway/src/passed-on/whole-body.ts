import type { IncomingMessage } from 'node:http';
import { Problem } from '@tollgate/http/problem';
import { receiveWhole } from '../http/receive-whole.ts';

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
  return async (req) => {
    const { 'content-length': declared, 'transfer-encoding': coding } = req.headers;
    if (Number(declared ?? 0) > maxBytes) throw tooLarge();
    if (coding === undefined && Number(declared ?? 0) === 0) return null;
    return receiveWhole(req, (fail) => {
      const giveUp = () => {
        fail(new Problem('request_timeout', { detail: LATE, headers: { connection: 'close' } }));
      };
      const timer = setTimeout(giveUp, timeoutMs);
      arriving.add(giveUp);
      const [oldest] = arriving;
      if (arriving.size > maxArriving) oldest?.();
      return {
        received: (bytes) => {
          if (bytes > maxBytes) throw tooLarge();
        },
        stop: () => {
          arriving.delete(giveUp);
          clearTimeout(timer);
        },
      };
    });
  };
}

const LATE = 'The body of the request did not arrive in time.';

function tooLarge(): Problem {
  return new Problem('payload_too_large', { headers: { connection: 'close' } });
}
