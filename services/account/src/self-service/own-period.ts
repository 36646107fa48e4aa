import type { Query } from '../platform/database/query.ts';
import type { Period } from '../billing/periods/period-store.ts';

/** The period of an account that started last. */
export type OwnPeriod = Pick<
  Period,
  'period_id' | 'plan_id' | 'subscription_id' | 'blocked_at' | 'started_at' | 'ended_at' | 'description'
> & {
  /** Whether it is one of the plan that an account gets at sign-up. */
  is_sign_up: boolean;
  is_current: boolean;
};

export async function findOwnPeriod(
  query: Query,
  accountId: number,
  now: Date,
): Promise<OwnPeriod | undefined> {
  const rows = await query<OwnPeriod>(
    `SELECT period_id, plan_id, subscription_id, blocked_at, started_at, ended_at, description,
            EXISTS (SELECT 1 FROM sign_up_plans WHERE sign_up_plans.period_id = billing_periods.period_id)
              AS is_sign_up,
            :now < ended_at + interval '1 second' AS is_current
     FROM billing_periods WHERE account_id = :accountId AND started_at <= :now
     ORDER BY started_at DESC LIMIT 1`,
    { accountId, now },
  );
  return rows[0];
}
