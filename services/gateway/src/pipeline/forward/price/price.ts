import type { IncomingHttpHeaders } from 'node:http';
import { MAX_EVENT_COUNTER } from '@tollgate/contracts/usage-stream';
import type { Operations } from '../../../operation-reader/operation-reader.ts';

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

/** What a response costs: at least `points`, and `pointsPerResult` for each result in it, up to `most`. */
export type Price = {
  points: number;
  pointsPerResult: number;
  /** What all of it costs at most. */
  most: number;
  isStated: boolean;
};

export const FREE: Price = { points: 0, pointsPerResult: 0, most: 0, isStated: false };

/**
 * The price of a response for which the upstream states none; null if it is free: a server error, or the stream of a
 * subscription, which costs by the minute. It is the estimate, if there is one that counts (`MISSING_POINTS`). The
 * operations decide, never the form of the response (docs/design/admission.md). It is never more than what is reserved.
 */
export function defaultPrice(
  status: number,
  isOpenStream: boolean,
  { type, count }: Pick<Operations, 'type' | 'count'>,
  {
    defaultPoints,
    estimatedPoints,
    reservedPoints,
  }: { defaultPoints: number; estimatedPoints: number | null; reservedPoints: number },
): Price | null {
  if (status >= 500 || (isOpenStream && type === 'subscription')) return null;
  // It is of the whole result, in however many parts it comes.
  if (estimatedPoints !== null && type !== 'unknown') {
    // account would set more aside, and charge nothing.
    const points = Math.min(estimatedPoints, MAX_EVENT_COUNTER);
    return { points, pointsPerResult: 0, most: points, isStated: false };
  }
  const points = Math.min(count * defaultPoints, reservedPoints);
  return { points, pointsPerResult: defaultPoints, most: reservedPoints, isStated: false };
}
