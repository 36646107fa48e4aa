import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The header that carries a request's id through all services. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Only the form that newRequestId makes: nothing else that a caller puts there, a secret say, is logged. */
const WELL_FORMED = /^[0-9a-f]{32}$/;

const ID_BYTES = 16;
// Random bytes are drawn for many ids at once: one system call for each would show in the gateway's throughput.
const pool = Buffer.alloc(256 * ID_BYTES);
let used = pool.length;

/** A new request id: 128 random bits in hex, which is also a valid W3C trace id. It is no secret. */
export function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.toString('hex', used - ID_BYTES, used);
}

/**
 * The id of a request that reached an inner service: the gateway's where it is well formed, else a new one.
 * The gateway itself never takes a caller's.
 */
export function requestIdOf(req: Pick<IncomingMessage, 'headers'>): string {
  const given = req.headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : newRequestId();
}
