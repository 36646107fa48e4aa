import { post } from './requests.ts';
import type { GraphqlParams, RequestOptions } from './requests.ts';

/** What the gateway says of an operation before it runs (docs/guides/price-of-a-query.md). */
export type Estimate = {
  /** At most so many, if `isBounded`; null if the operation has no price. */
  points: number | null;
  /** Null if they aren't limited. */
  pointsLeft: number | null;
  isBounded: boolean;
  /** Why it would be refused; null if it wouldn't. `message` is the gateway's, with figures, of a refused document. */
  refusal: { code: string; message: string | null; retryAfterSec: number | null } | null;
  /** The fields that cost most by themselves. */
  fields: readonly { path: string; points: number }[];
};

/**
 * Asks what an operation would cost, which is free. Null if the gateway has no estimates of any.
 *
 * @throws the failure to reach the data endpoint, or to get a token.
 */
export async function askEstimate(params: GraphqlParams, options: RequestOptions): Promise<Estimate | null> {
  const { result, report } = await post(params, { ...options, dataUrl: `${options.dataUrl}/estimate` });
  const told = (result as { extensions?: { estimate?: Told } } | null)?.extensions?.estimate;
  if (told === undefined) {
    const { refusal } = report;
    // It has no schema.
    return refusal?.code === 'not_found' ? null : { ...NOTHING_TOLD, refusal };
  }
  return {
    points: told.points,
    pointsLeft: told.points_remaining,
    isBounded: told.bounded,
    refusal: told.reason === null ? null : { code: told.reason, message: null, retryAfterSec: null },
    fields: told.fields.map(({ path, points }) => ({ path: path.join('.'), points })),
  };
}

/** `extensions.estimate` of the answer. */
type Told = {
  points: number | null;
  points_remaining: number | null;
  reason: string | null;
  bounded: boolean;
  fields: { path: string[]; points: number }[];
};

const NOTHING_TOLD = { points: null, pointsLeft: null, isBounded: false, fields: [] } as const;
