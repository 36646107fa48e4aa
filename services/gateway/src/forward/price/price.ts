import type { IncomingHttpHeaders } from 'node:http';
import { MAX_EVENT_COUNTER } from '@tollgate/contracts/usage-stream';

/** Why an answer states no price that can be read. */
export type PriceFault = 'missing' | 'repeated' | 'unreadable';

/** X-Points: a non-negative integer. */
const POINTS = /^\d{1,13}$/;
/** With optional white space around it (RFC 9110, section 5.5), which the HTTP client leaves at the end. */
const PADDED_POINTS = /^[\t ]*(\d{1,13})[\t ]*$/;

/** The price that an answer states, or why it states none. */
export function statedPoints({ 'x-points': given }: IncomingHttpHeaders): number | PriceFault {
  if (given === undefined) return 'missing';
  if (typeof given !== 'string') return 'repeated';
  const points = Number(POINTS.test(given) ? given : PADDED_POINTS.exec(given)?.[1]);
  return points <= MAX_EVENT_COUNTER ? points : 'unreadable';
}

/** Whether an answer without a price costs nothing: a server error, or a stream, which costs by the minute. */
export function isFreeByDefault(status: number, isOpenStream: boolean): boolean {
  return status >= 500 || isOpenStream;
}
