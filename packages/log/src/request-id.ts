import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const REQUEST_ID_HEADER = 'x-request-id';

/** Only newRequestId's format: a caller could send a secret, which would be logged. */
const WELL_FORMED = /^[0-9a-f]{32}$/;

const ID_BYTES = 16;
// A system call for each id would slow the gateway down.
const pool = Buffer.alloc(256 * ID_BYTES);
let used = pool.length;

/** 128 random bits in hex, also a valid W3C trace id. */
export function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.toString('hex', used - ID_BYTES, used);
}

/** The request's own id if it is well formed, else a new one. The gateway never uses this: callers don't choose ids. */
export function requestIdOf(req: Pick<IncomingMessage, 'headers'>): string {
  const given = req.headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : newRequestId();
}
