import { Problem } from '@tollgate/http/problem';
import { enforcedLimits } from '../billing/periods/limits.ts';
import { pickPeriod } from '../billing/periods/period-rules.ts';
import type { PayerPeriods } from '../billing/periods/payer-periods.ts';

/** Of the payer's current period; null without one. */
export function slotsLimitOf({ periods }: Pick<PayerPeriods, 'periods'>, now: Date): number | null {
  const period = pickPeriod(periods, now);
  return period === undefined ? null : enforcedLimits(period).team_slots_limit;
}

export function noSlotLeft(limit: number): Problem {
  const detail = `The manager's plan allows ${String(limit)} team slots, including the manager and pending invitations.`;
  return new Problem('team_slots_limit_exceeded', {
    detail,
    extensions: { limit, remaining: 0 },
  });
}
