import type { IncomingHttpHeaders } from 'node:http';
import { MAX_EVENT_COUNTER } from '@tollgate/contracts/usage-stream';

/** Why a response has no readable price. */
export type PriceFault = 'missing' | 'repeated' | 'unreadable';

const POINTS = /^\d{1,13}$/;
/** undici leaves optional white space (RFC 9110, section 5.5) at the end. */
const PADDED_POINTS = /^[\t ]*(\d{1,13})[\t ]*$/;

/** The price in X-Points, a non-negative integer, or why there is none. */
export function statedPoints({ 'x-points': given }: IncomingHttpHeaders): number | PriceFault {
  if (given === undefined) return 'missing';
  if (typeof given !== 'string') return 'repeated';
  const points = Number(POINTS.test(given) ? given : PADDED_POINTS.exec(given)?.[1]);
  return points <= MAX_EVENT_COUNTER ? points : 'unreadable';
}

/** Whether a response without a price is free: a server error, or a stream, which costs by the minute. */
export function isFreeByDefault(status: number, isOpenStream: boolean): boolean {
  return status >= 500 || isOpenStream;
}
