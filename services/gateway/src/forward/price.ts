import type { IncomingHttpHeaders } from 'node:http';
import { MAX_EVENT_COUNTER } from '@tollgate/contracts/usage-stream';

/** Why an answer states no price that can be read. */
export type PriceFault = 'missing' | 'repeated' | 'unreadable';

/** X-Points: a non-negative integer. */
const POINTS = /^\d{1,13}$/;
/** Optional white space around a field's value (RFC 9110, section 5.5), which the HTTP client leaves at its end. */
const AROUND = /^[\t ]+|[\t ]+$/g;

/** The price that an answer states, or why it states none. */
export function statedPoints({ 'x-points': given }: IncomingHttpHeaders): number | PriceFault {
  if (given === undefined) return 'missing';
  if (typeof given !== 'string') return 'repeated';
  const text = POINTS.test(given) ? given : given.replace(AROUND, '');
  const points = POINTS.test(text) ? Number(text) : Infinity;
  return points <= MAX_EVENT_COUNTER ? points : 'unreadable';
}

/** Whether an answer without a price costs nothing: a server error, or a stream, which costs by the minute. */
export function isFreeByDefault(status: number, isOpenStream: boolean): boolean {
  return status >= 500 || isOpenStream;
}
