import type { IncomingHttpHeaders } from 'node:http';
import { MAX_EVENT_COUNTER } from '@tollgate/contracts/usage-stream';

/** Why an answer states no price that can be read. */
export type PriceFault = 'missing' | 'repeated' | 'unreadable';

/** X-Points: a non-negative integer, with optional white space around it (RFC 9110, section 5.5). */
const POINTS = /^[\t ]*(\d{1,13})[\t ]*$/;

/** The price that an answer states, or why it states none. */
export function statedPoints({ 'x-points': given }: IncomingHttpHeaders): number | PriceFault {
  if (given === undefined) return 'missing';
  if (typeof given !== 'string') return 'repeated';
  const points = Number(POINTS.exec(given)?.[1] ?? NaN);
  return points <= MAX_EVENT_COUNTER ? points : 'unreadable';
}

/** An answer's head, as far as its price depends on it. */
export type PricedHead = { status: number; headers: IncomingHttpHeaders; isOpenStream: boolean };

/** Whether an answer without a price costs nothing: a server error, or a stream, which costs by the minute. */
export function isFreeByDefault({ status, isOpenStream }: PricedHead): boolean {
  return status >= 500 || isOpenStream;
}
