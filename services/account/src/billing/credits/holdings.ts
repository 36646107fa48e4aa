import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import { afterTaking, allocate, inOrderOfUse } from './allocation.ts';
import { hasExpired } from './credit.ts';
import type { Credit } from './credit.ts';
import { findLiveCredits } from './store.ts';
import type { LiveCredit } from './store.ts';

/** What a payer can use now, and which grants have something left, in order of use. */
export type Holdings = {
  points_remaining: number;
  credits: Credit[];
  /** Further points, which are charged by use, up to the cap: apart, since they are nothing that the payer has. */
  overage_points_remaining: number;
  /** Of further points; those that a lower cap ends are among them until that is settled. */
  overage: Credit[];
};

/**
 * Usage that is counted and not settled yet is taken from the grants that are usable now, but not from one that has just
 * begun: until the usage before it is settled, that is most of it. `nowMs` by Redis' clock.
 */
export async function findHoldings(query: Query, payerId: number, nowMs: number): Promise<Holdings> {
  return holdingsOf(await findLiveCredits(query, payerId), nowMs);
}

/** What the payer's next purchase pays first: usage that nothing covered, as far as it is carried. */
export async function findCarriedOveruse(query: Query, payerId: number): Promise<number> {
  const rows = await query<{ points: number }>(
    `SELECT CAST(coalesce(sum(carried_points), 0) AS bigint) AS points
     FROM billing_periods JOIN period_credits USING (period_id) WHERE account_id = :payerId`,
    { payerId },
  );
  return singleRow(rows).points;
}

/** Of grants that aren't voided. */
function holdingsOf(live: readonly LiveCredit[], nowMs: number): Holdings {
  const held = inOrderOfUse(live.filter((credit) => !hasExpired(credit, nowMs)));
  const isUsable = ({ usable_from }: Credit) => usable_from.getTime() <= nowMs;
  const charged = held.filter((credit) => isUsable(credit) && credit.has_settled_start);
  const { taken } = allocate(live[0]?.unsettled_points ?? 0, charged);
  const left = afterTaking(held, taken).filter((credit) => credit.points_remaining > 0);
  const usablePoints = (credits: readonly LiveCredit[]) =>
    credits
      .filter(isUsable)
      .reduce((sum, one) => sum + Math.max(0, one.points_remaining - one.points_ending), 0);
  const own = left.filter(({ source }) => source !== 'overage');
  const overage = left.filter(({ source }) => source === 'overage');
  return {
    points_remaining: usablePoints(own),
    credits: own.map(creditOf),
    overage_points_remaining: usablePoints(overage),
    overage: overage.map(creditOf),
  };
}

function creditOf({
  has_settled_start: _start,
  unsettled_points: _unsettled,
  points_ending: _ending,
  ...credit
}: LiveCredit): Credit {
  return credit;
}
