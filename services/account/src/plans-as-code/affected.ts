import type { Query } from '../platform/database/query.ts';

/** Whom a change of a plan reaches, and whom it doesn't. */
export type Affected = {
  /** They get the change with their next period. */
  subscriptions: number;
  /** Unchanged: a period keeps what it was sold with. */
  current_periods: number;
  /** Opened ahead: they get the change. */
  unstarted_periods: number;
  /** Current periods that have used more than a limit that is lowered. */
  periods_over_limit: number;
  is_sign_up_plan: boolean;
  is_in_catalogue: boolean;
};

/** Limits that are lowered, as they will be; null: it isn't. */
export type LoweredLimits = Record<'points_limit' | 'time_sec_limit' | 'traffic_bytes_limit', number | null>;

/** By plan. */
export async function findAffected(
  query: Query,
  plans: readonly ({ plan_id: number } & LoweredLimits)[],
  signUpPlan: string | null,
): Promise<Map<number, Affected>> {
  const rows = await query<Affected & { plan_id: number }>(
    `SELECT plans.plan_id,
       (SELECT count(*) FROM subscriptions
          WHERE ended_at IS NULL AND coalesce(pending_plan_id, plan_id) = plans.plan_id)::int AS subscriptions,
       (SELECT count(*) FROM billing_periods
          WHERE plan_id = plans.plan_id AND now() BETWEEN started_at AND ended_at)::int AS current_periods,
       (SELECT count(*) FROM billing_periods
          WHERE plan_id = plans.plan_id AND subscription_id IS NOT NULL AND started_at > now())::int
         AS unstarted_periods,
       (SELECT count(*) FROM billing_periods JOIN usage_totals USING (period_id)
          WHERE plan_id = plans.plan_id AND now() BETWEEN started_at AND ended_at
            AND (usage_totals.points > wanted.points_limit OR usage_totals.time_ms > 1000 * wanted.time_sec_limit
              OR usage_totals.traffic_bytes > wanted.traffic_bytes_limit))::int AS periods_over_limit,
       (CAST(:signUpPlan AS text) IN (plans.name, plans.plan_id::text)) IS TRUE AS is_sign_up_plan,
       plans.public_position IS NOT NULL AND plans.archived_at IS NULL AS is_in_catalogue
     FROM plans
     JOIN json_to_recordset(:lowered) AS wanted (
       plan_id bigint, points_limit bigint, time_sec_limit bigint, traffic_bytes_limit bigint) USING (plan_id)`,
    { lowered: JSON.stringify(plans), signUpPlan },
  );
  return new Map(rows.map(({ plan_id, ...affected }) => [plan_id, affected]));
}
