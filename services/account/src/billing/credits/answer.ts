import type { Credits } from '@tollgate/contracts/entitlement';
import type { Query } from '../../platform/database/query.ts';
import { includedPoints } from '../periods/limits.ts';
import { afterTaking, allocate, inOrderOfUse } from './allocation.ts';
import type { CreditSource } from './allocation.ts';
import { demandOf } from './settlement.ts';

type Live = {
  credit_id: number;
  source: CreditSource;
  priority: number;
  expires_at: string | null;
  created_at: string;
  points_remaining: number;
  from_ms: number | null;
  until_ms: number | null;
  /** Its last points, as far as they end at an instant that isn't settled, the first one first. */
  ending: { points: number; until_ms: number }[] | null;
};

type Open = {
  period_id: number;
  description: Record<string, unknown>;
  points: number;
  settled: number;
};

type Row = { grants: Live[] | null; periods: Open[] | null };

/** Gateways reserve the use of so many ended periods; that of earlier ones is subtracted here. */
const OPEN_PERIODS = 4;

/** One statement: between two, use could move from a period to a grant. An instant that is settled isn't stated. */
const CREDITS_SQL = `
  SELECT (
    SELECT json_agg(json_build_object('credit_id', credit_id, 'source', source, 'priority', priority,
      'expires_at', expires_at, 'created_at', created_at, 'points_remaining', points_remaining,
      'from_ms', CASE WHEN EXISTS (SELECT FROM credit_cuts AS cut WHERE cut.account_id = credit_grants.account_id
          AND cut.at = usable_from AND resolved_at IS NULL)
        THEN CAST(extract(epoch FROM usable_from) * 1000 AS bigint) END,
      'ending', (SELECT json_agg(json_build_object('points', points,
          'until_ms', CAST(extract(epoch FROM at) * 1000 AS bigint)) ORDER BY reduction_id)
        FROM credit_reductions AS reduction
        WHERE reduction.credit_id = credit_grants.credit_id AND reduced_at IS NULL),
      'until_ms', CAST(extract(epoch FROM least(expires_at, void_requested_at)) * 1000 AS bigint)))
    FROM credit_grants WHERE account_id = :payerId AND points_remaining > 0
  ) AS grants, (
    SELECT json_agg(json_build_object('period_id', period_id, 'description', description,
      'points', coalesce(points, 0), 'settled', coalesce(settled_points, 0)) ORDER BY started_at DESC)
    FROM period_closings JOIN billing_periods USING (period_id)
    LEFT JOIN usage_totals USING (period_id) LEFT JOIN period_credits USING (period_id)
    WHERE period_closings.account_id = :payerId AND started_at <= :now
  ) AS periods`;

/**
 * What gateways enforce of the payer's credits in the current period (docs/design/credits.md). Undefined without any, or
 * if the period's points aren't limited.
 */
export async function findCredits(
  query: Query,
  payerId: number,
  current: { period_id: number; description: Record<string, unknown>; endOfUse: Date },
  now: Date,
): Promise<Credits | undefined> {
  const included = includedPoints(current.description);
  if (included === null) return undefined;
  const [row] = await query<Row>(CREDITS_SQL, { payerId, now }, 'payer-credits');
  if (!row?.grants) return undefined;
  const periods = row.periods ?? [];
  const others = periods
    .filter(({ period_id }) => period_id !== current.period_id)
    .flatMap(({ period_id, description, points, settled }) => {
      const limit = includedPoints(description);
      return limit === null ? [] : [{ period_id, included: limit, points, settled }];
    });
  return {
    included,
    settled: periods.find(({ period_id }) => period_id === current.period_id)?.settled ?? 0,
    open_periods: others
      .slice(0, OPEN_PERIODS)
      .map(({ period_id, included: limit, settled }) => ({ period_id, included: limit, settled })),
    grants: grantsOf(row.grants, others.slice(OPEN_PERIODS), current.endOfUse),
  };
}

function grantsOf(
  live: readonly Live[],
  earlier: readonly { included: number; points: number; settled: number }[],
  endOfUse: Date,
): Credits['grants'] {
  const ordered = inOrderOfUse(
    live.map((grant) => ({
      ...grant,
      expires_at: grant.expires_at === null ? null : new Date(grant.expires_at),
      created_at: new Date(grant.created_at),
    })),
  );
  const needed = earlier.reduce((sum, period) => sum + Math.max(0, demandOf(period) - period.settled), 0);
  return afterTaking(ordered, allocate(needed, ordered).taken)
    .filter(({ from_ms }) => from_ms === null || from_ms < endOfUse.getTime())
    .flatMap(partsOf);
}

/** A grant whose last points end sooner is several ones: what is used first goes on, what ends first is used last. */
function partsOf({
  points_remaining,
  from_ms,
  until_ms,
  ending,
}: Pick<Live, 'points_remaining' | 'from_ms' | 'until_ms' | 'ending'>): Credits['grants'] {
  let points = points_remaining;
  const parts = (ending ?? []).map((part) => {
    const ended = Math.min(points, part.points);
    points -= ended;
    const sooner = until_ms === null ? part.until_ms : Math.min(part.until_ms, until_ms);
    return { points: ended, from_ms, until_ms: sooner };
  });
  return [{ points, from_ms, until_ms }, ...parts.toReversed()];
}
