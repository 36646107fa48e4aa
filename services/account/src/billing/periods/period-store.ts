import { Problem } from '@tollgate/http/problem';
import { singleRow } from '../../platform/database/single-row.ts';
import { isExclusionViolation } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import type { PeriodTimes } from './period-rules.ts';

export type Period = PeriodTimes & {
  period_id: number;
  account_id: number;
  plan_id: number;
  plan_name: string;
  product_id: number | null;
  /** Null if it was created by an operator. */
  subscription_id: number | null;
  description: Record<string, unknown>;
  grace_sec: number;
  team_slots_limit: number | null;
  blocked_at: Date | null;
  created_at: Date;
};

const COLUMNS = `period_id, account_id, plan_id, plan_name, product_id, subscription_id, description, grace_sec,
  team_slots_limit, started_at, ended_at, blocked_at, created_at`;

/** @throws {Problem} periods_overlap */
export async function openPeriod(
  query: Query,
  opened: PeriodTimes &
    Pick<Period, 'account_id' | 'plan_id' | 'subscription_id' | 'team_slots_limit' | 'blocked_at'>,
): Promise<Period> {
  const rows = await unlessOverlapping(
    query<Period>(
      `INSERT INTO billing_periods (account_id, plan_id, plan_name, product_id, subscription_id, description,
         grace_sec, team_slots_limit, started_at, ended_at, blocked_at)
       SELECT :account_id, plan_id, name, product_id, :subscription_id, description,
         grace_sec, :team_slots_limit, :started_at, :ended_at, :blocked_at
       FROM plans WHERE plan_id = :plan_id
       RETURNING ${COLUMNS}`,
      opened,
    ),
  );
  return singleRow(rows);
}

export async function lockPeriod(query: Query, periodId: number): Promise<Period | undefined> {
  const rows = await query<Period>(
    `SELECT ${COLUMNS} FROM billing_periods WHERE period_id = :periodId FOR UPDATE`,
    { periodId },
  );
  return rows[0];
}

export async function lastStartedPeriod(
  query: Query,
  subscriptionId: number,
  now: Date,
): Promise<Period | undefined> {
  const rows = await query<Period>(
    `SELECT ${COLUMNS} FROM billing_periods
     WHERE subscription_id = :subscriptionId AND started_at <= :now
     ORDER BY started_at DESC LIMIT 1`,
    { subscriptionId, now },
  );
  return rows[0];
}

/** Returns when the first of them would have started. */
export async function deleteUpcomingPeriods(
  query: Query,
  subscriptionId: number,
  now: Date,
): Promise<Date | undefined> {
  const rows = await query<{ started_at: Date }>(
    `DELETE FROM billing_periods WHERE subscription_id = :subscriptionId AND started_at > :now
     RETURNING started_at`,
    { subscriptionId, now },
  );
  const starts = rows.map(({ started_at }) => started_at);
  return starts.toSorted((one, other) => +one - +other)[0];
}

/** When the last one ends, of the periods that don't end before an instant. */
export async function lastEndFrom(
  query: Query,
  accountId: number,
  instant: Date,
): Promise<Pick<Period, 'ended_at'> | undefined> {
  const rows = await query<Pick<Period, 'ended_at'>>(
    `SELECT ended_at FROM billing_periods WHERE account_id = :accountId AND ended_at >= :instant
     ORDER BY ended_at DESC LIMIT 1`,
    { accountId, instant },
  );
  return rows[0];
}

type Changed = Partial<Pick<Period, 'ended_at' | 'grace_sec' | 'blocked_at' | 'team_slots_limit'>>;

/** @throws {Problem} periods_overlap, of a later end */
export async function updatePeriod(query: Query, periodId: number, changed: Changed): Promise<Period> {
  const sets = Object.keys(changed).map((column) => `${column} = :${column}`);
  const rows = await unlessOverlapping(
    query<Period>(
      `UPDATE billing_periods SET ${sets.join(', ')} WHERE period_id = :periodId RETURNING ${COLUMNS}`,
      { ...changed, periodId },
    ),
  );
  return singleRow(rows);
}

async function unlessOverlapping<T>(written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    if (isExclusionViolation(error)) throw new Problem('periods_overlap', { cause: error });
    throw error;
  }
}

/** The period goes on as one of another plan; `period_plans` keeps what it was sold as before. */
export async function replacePlan(query: Query, periodId: number, planId: number): Promise<Period> {
  await query(
    `INSERT INTO period_plans (period_id, plan_id, plan_name, product_id, description, grace_sec)
     SELECT period_id, plan_id, plan_name, product_id, description, grace_sec
     FROM billing_periods WHERE period_id = :periodId`,
    { periodId },
  );
  const rows = await query<Period>(
    `UPDATE billing_periods SET (plan_id, plan_name, product_id, description, grace_sec) =
       (SELECT plan_id, name, product_id, description, grace_sec FROM plans WHERE plan_id = :planId)
     WHERE period_id = :periodId RETURNING ${COLUMNS}`,
    { periodId, planId },
  );
  return singleRow(rows);
}

export async function deletePeriod(query: Query, periodId: number): Promise<void> {
  await query('DELETE FROM billing_periods WHERE period_id = :periodId', { periodId });
}
