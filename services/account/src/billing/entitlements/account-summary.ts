import type { BillingStatus } from '@tollgate/contracts/entitlement';
import type { Query } from '../../platform/database/query.ts';
import { findPayerPeriods } from '../periods/payer-periods.ts';
import { listPaymentBlocks } from '../periods/payment-blocks.ts';
import type { PaymentBlock } from '../periods/payment-blocks.ts';
import { billingStatus, pickPeriod } from '../periods/period-rules.ts';

type TeamMembership = { team_id: number; name: string; role: 'manager' | 'member' };

type AccountSummary = {
  team: TeamMembership | null;
  payer_id: number;
  /** The account's own subscription, if one is live. */
  subscription_id: number | null;
  /** As `GET /api/usage` shows it; `none` without a billing period. */
  status: BillingStatus | 'none';
  /** The payer's. */
  billing_period: { period_id: number; plan_name: string; started_at: Date; ended_at: Date } | null;
  /** The account's own. */
  payment_blocks: PaymentBlock[];
};

export async function summarizeAccount(query: Query, accountId: number): Promise<AccountSummary | undefined> {
  const now = new Date();
  const payerPeriods = await findPayerPeriods(query, accountId, now);
  if (payerPeriods === undefined) return undefined;
  const { payer_id, account_blocked, periods } = payerPeriods;
  const period = pickPeriod(periods, now);
  return {
    team: (await findTeamMembership(query, accountId)) ?? null,
    payer_id,
    subscription_id: await findLiveSubscriptionId(query, accountId),
    status: statusOf(period, account_blocked, now),
    billing_period:
      period === undefined
        ? null
        : {
            period_id: period.period_id,
            plan_name: period.plan_name,
            started_at: period.started_at,
            ended_at: period.ended_at,
          },
    payment_blocks: await listPaymentBlocks(query, accountId),
  };
}

function statusOf(
  period: Parameters<typeof billingStatus>[0] | undefined,
  blocked: boolean,
  now: Date,
): AccountSummary['status'] {
  if (period !== undefined) return billingStatus(period, blocked, now);
  return blocked ? 'blocked' : 'none';
}

async function findTeamMembership(query: Query, accountId: number): Promise<TeamMembership | undefined> {
  const rows = await query<TeamMembership>(
    `SELECT team_id, name, role FROM team_members JOIN teams USING (team_id) WHERE account_id = :accountId`,
    { accountId },
  );
  return rows[0];
}

async function findLiveSubscriptionId(query: Query, accountId: number): Promise<number | null> {
  const rows = await query<{ subscription_id: number }>(
    'SELECT subscription_id FROM subscriptions WHERE account_id = :accountId AND ended_at IS NULL',
    { accountId },
  );
  return rows[0]?.subscription_id ?? null;
}
