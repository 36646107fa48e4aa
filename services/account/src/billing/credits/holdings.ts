import type { Query } from '../../platform/database/query.ts';
import { allocate, inOrderOfUse } from './allocation.ts';
import { hasExpired } from './credit.ts';
import type { Credit } from './credit.ts';
import { findLiveCredits, sumUnsettled } from './store.ts';

/** What a payer can use now, and which grants have something left, in order of use. */
export type Holdings = { points_remaining: number; credits: Credit[] };

/**
 * Usage that is counted and not settled yet is taken from the grants that are usable now. `nowMs` by Redis' clock.
 */
export async function findHoldings(query: Query, payerId: number, nowMs: number): Promise<Holdings> {
  const live = await findLiveCredits(query, payerId);
  return holdingsOf(live, await sumUnsettled(query, payerId), nowMs);
}

/** Of grants that aren't voided. */
function holdingsOf(live: readonly Credit[], unsettled: number, nowMs: number): Holdings {
  const held = inOrderOfUse(live.filter((credit) => !hasExpired(credit, nowMs)));
  const isUsable = ({ usable_from }: Credit) => usable_from.getTime() <= nowMs;
  const { taken } = allocate(unsettled, held.filter(isUsable));
  const takenOf = new Map(taken.map(({ credit_id, points }) => [credit_id, points]));
  const credits = held
    .map((credit) => ({
      ...credit,
      points_remaining: credit.points_remaining - (takenOf.get(credit.credit_id) ?? 0),
    }))
    .filter(({ points_remaining }) => points_remaining > 0);
  const points_remaining = credits.filter(isUsable).reduce((sum, credit) => sum + credit.points_remaining, 0);
  return { points_remaining, credits };
}
