import type { Budgets, Credits, Entitlement, LimitedApplication } from '@tollgate/contracts/entitlement';
import { usageLane } from '@tollgate/contracts/usage-stream';
import { callRules, enforcedLimits } from '../periods/limits.ts';
import { billingStatus, nextChange, pickPeriod, soonestAfter } from '../periods/period-rules.ts';
import type { PayerPeriods } from '../periods/payer-periods.ts';

/** `buyUrl`: where points can be bought, and payments that are due made. */
type Extras = {
  /** Of all usage; null to whom it doesn't matter which one takes the payer's. */
  lanes?: number | null;
  credits?: Credits | undefined;
  budgets?: Budgets | undefined;
  limitedApplications?: LimitedApplication[];
  buyUrl?: string | null;
};

/** `none` without a period; `blocked` has precedence, since it is what a caller must know first. */
export function entitlementAnswer(
  payerPeriods: PayerPeriods,
  { lanes = null, credits, budgets, limitedApplications = [], buyUrl = null }: Extras = {},
): Entitlement {
  const { account_id, payer_id, account_blocked, payment_blocked, periods, now } = payerPeriods;
  const period = pickPeriod(periods, now);
  const changes = [
    nextChange(period, periods, account_blocked, now),
    nextInstant(credits, now),
    payerPeriods.payment_changes_at,
  ];
  const changesAt = soonestAfter(
    changes.flatMap((at) => (at === null ? [] : [at.getTime()])),
    now,
  );
  const without = account_blocked ? 'blocked' : 'none';
  const rules = period === undefined ? undefined : callRules(period.description);
  return {
    account_id,
    payer_id,
    status: period === undefined ? without : billingStatus(period, account_blocked, now),
    valid_until: changesAt?.toISOString() ?? null,
    valid_for_ms: changesAt === null ? null : +changesAt - +now,
    ...(payment_blocked && period?.blocked !== true && buyUrl !== null && { pay_url: buyUrl }),
    ...(limitedApplications.length > 0 && { limited_applications: limitedApplications }),
    billing_period:
      period === undefined
        ? null
        : {
            period_id: period.period_id,
            ended_at: period.ended_at.toISOString(),
            limits: enforcedLimits(period),
            ...(lanes === null ? {} : { usage_lane: usageLane(payer_id, lanes) }),
            ...(credits === undefined ? {} : { credits }),
            ...(budgets === undefined ? {} : { budgets }),
            ...(rules === undefined ? {} : { call_rules: rules }),
            ...(buyUrl === null ? {} : { buy_url: buyUrl }),
          },
  };
}

/** When a grant begins or ends, which changes the limit that is shown. */
function nextInstant(credits: Credits | undefined, now: Date): Date | null {
  const instants = (credits?.grants ?? []).flatMap(({ from_ms, until_ms }) => [from_ms ?? 0, until_ms ?? 0]);
  return soonestAfter(instants, now);
}
