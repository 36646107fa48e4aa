import type { BillingStatus, LimitField } from '@tollgate/contracts/entitlement';
import { Problem } from '@tollgate/http/problem';
import { enforcedLimits } from '../../../billing/periods/limits.ts';
import { billingStatus, pickPeriod } from '../../../billing/periods/period-rules.ts';
import { secondAfter } from '../../../billing/periods/calendar.ts';
import { findPayerPeriods } from '../../../billing/periods/payer-periods.ts';
import type { PayerPeriods } from '../../../billing/periods/payer-periods.ts';
import type { Counters } from '../../../billing/periods/usage-sums.ts';
import type { Query } from '../../../platform/database/query.ts';
import { isoSeconds } from '../../../http/iso-seconds.ts';
import { elapsedShare, forecastFrom, perDay, reachedAt, usedShare } from './pace.ts';
import type { PeriodBounds } from './pace.ts';
import { findCrossedThresholds, findPayer, findSlotsUsed } from './period-details.ts';
import type { CrossedThreshold, Payer } from './period-details.ts';
import { findUsageSince } from '../store.ts';

/** Limits that accumulate, with their counter and the counter's units per unit of the limit. */
const ACCRUING = {
  points_limit: { counter: 'points', units: 1 },
  time_sec_limit: { counter: 'time_ms', units: 1_000 },
  traffic_bytes_limit: { counter: 'traffic_bytes', units: 1 },
} as const satisfies Partial<Record<LimitField, { counter: keyof Counters; units: number }>>;

type AccruingLimit = keyof typeof ACCRUING;

/** Limits of one moment, whose use only the gateways' Redis knows. */
const MOMENTARY = ['rate_limit', 'session_limit', 'subscription_limit'] as const satisfies LimitField[];

type Pace = { per_day: number; reached_at: string | null };

type LimitPace = {
  limit: number;
  usage: number;
  used_share: number;
  reached: boolean;
  whole_period: Pace;
  last_24_hours: Pace;
};

export type PaceAnswer = {
  account_id: number;
  payer_id: number;
  status: BillingStatus;
  /** Null if the account pays for itself. */
  payer: Payer | null;
  billing_period: {
    period_id: number;
    started_at: string;
    ended_at: string;
    grace_ends_at: string;
    plan_name: string;
    product: { name: string } | null;
  };
  elapsed_share: number;
  forecast_from: string | null;
  limits: Partial<Record<AccruingLimit, LimitPace>>;
  momentary_limits: Partial<Record<(typeof MOMENTARY)[number], number>>;
  team_slots: { limit: number; used: number } | null;
  crossed_thresholds: CrossedThreshold[];
};

const HOUR_MS = 3_600_000;

/** The pace of the period that GET /api/usage returns. @throws {Problem} not_found; no_billing_period */
export async function paceAnswer(query: Query, accountId: number, now: Date): Promise<PaceAnswer> {
  const payerPeriods = await findPayerPeriods(query, accountId, now);
  if (payerPeriods === undefined) throw new Problem('not_found');
  const period = pickPeriod(payerPeriods.periods, now);
  if (period === undefined) throw new Problem('no_billing_period');
  const { started_at, period_id } = period;
  const { account_id, payer_id } = payerPeriods;
  const bounds = { started_at, end: secondAfter(period) };
  const forecastStart = forecastFrom(bounds);
  const since = lastDay(bounds, now);
  // The first hourly row may begin before the period.
  const [recent] = await findUsageSince(query, period_id, hourOf(since));
  const enforced = enforcedLimits(period);
  const limits = Object.entries(ACCRUING).flatMap(([field, { counter, units }]) => {
    const limit = enforced[field as AccruingLimit];
    if (limit === null) return [];
    const pace = limitPace({ limit, units, used: period[counter] }, bounds, now, {
      used: recent?.[counter] ?? 0,
      since,
    });
    return [[field, pace]];
  });
  const slots = enforced.team_slots_limit;
  return {
    account_id,
    payer_id,
    status: billingStatus(period, payerPeriods.account_blocked, now),
    payer: payer_id === account_id ? null : await findPayer(query, payer_id),
    billing_period: periodAnswer(period),
    elapsed_share: elapsedShare(bounds, now),
    forecast_from: forecastStart === null ? null : isoSeconds(forecastStart),
    limits: Object.fromEntries(limits) as PaceAnswer['limits'],
    momentary_limits: Object.fromEntries(
      MOMENTARY.flatMap((field) => (enforced[field] === null ? [] : [[field, enforced[field]]])),
    ),
    team_slots: slots === null ? null : { limit: slots, used: await findSlotsUsed(query, payer_id) },
    crossed_thresholds: await findCrossedThresholds(query, period_id),
  };
}

function periodAnswer(period: PayerPeriods['periods'][number]): PaceAnswer['billing_period'] {
  const { period_id, started_at, ended_at, grace_sec, plan_name, product_name } = period;
  return {
    period_id,
    started_at: isoSeconds(started_at),
    ended_at: isoSeconds(ended_at),
    grace_ends_at: isoSeconds(new Date(ended_at.getTime() + grace_sec * 1_000)),
    plan_name,
    product: product_name === null ? null : { name: product_name },
  };
}

/** The current hour and the 23 before it, within the period. */
function lastDay({ started_at }: PeriodBounds, now: Date): Date {
  return new Date(Math.max(hourOf(now).getTime() - 23 * HOUR_MS, started_at.getTime()));
}

const hourOf = (instant: Date) => new Date(Math.floor(instant.getTime() / HOUR_MS) * HOUR_MS);

function limitPace(
  { limit, units, used }: { limit: number; units: number; used: number },
  bounds: PeriodBounds,
  now: Date,
  recent: { used: number; since: Date },
): LimitPace {
  // In the counter's units: rounding 900 ms up to a second would reach a limit early.
  const inUnits = { limit: limit * units, used };
  const paceOf = (pace: { used: number; since: Date }): Pace => {
    const reached = reachedAt(inUnits, pace, bounds, now);
    return {
      per_day: Math.floor(perDay(pace, now) / units),
      reached_at: reached === null ? null : isoSeconds(reached),
    };
  };
  return {
    limit,
    usage: Math.floor(used / units),
    used_share: usedShare(inUnits),
    reached: used >= inUnits.limit,
    whole_period: paceOf({ used, since: bounds.started_at }),
    last_24_hours: paceOf(recent),
  };
}
