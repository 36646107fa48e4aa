import type { LimitField } from '@tollgate/contracts/entitlement';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import { Problem } from '@tollgate/http/problem';
import { DAY_MS } from '../../ledger/budgets.ts';
import type { ReachedBudget } from '../../ledger/budgets.ts';
import type { PayerEntitlement } from '../../ledger/principal.ts';
import type {
  AdmissionKind,
  AdmissionDecision,
  RefusedLimit,
  Reservation,
} from '../../ledger/admit-script.ts';
import { rateLimitFields } from './rate-limit-state.ts';
import type { RateLimitState } from './rate-limit-state.ts';

const PERIOD_LIMITS = {
  points: {
    code: 'points_limit_exceeded',
    field: 'points_limit',
    detail: 'The points of this billing period are used up.',
  },
  time: {
    code: 'time_limit_exceeded',
    field: 'time_sec_limit',
    detail: 'The subscription time of this billing period is used up.',
  },
  traffic: {
    code: 'traffic_limit_exceeded',
    field: 'traffic_bytes_limit',
    detail: 'The traffic of this billing period is used up.',
  },
} as const satisfies Record<string, { code: ErrorCode; field: LimitField; detail: string }>;

/** Slots become free at any moment; Retry-After is in whole seconds. */
const SLOTS_RETRY_SEC = 1;

/** A limit of 0 lets nothing pass until the plan changes. */
const NEVER_RETRY_SEC = 60;

/** A limit of the period is used up until the period ends or the plan changes. */
export function periodLimitExceeded(
  limit: 'points' | 'time' | 'traffic',
  { limits, endedAt, billingStatus, buyUrl }: PayerEntitlement,
  headers: Readonly<Record<string, string>> = {},
): Problem {
  const { code, field, detail } = PERIOD_LIMITS[limit];
  return new Problem(code, {
    detail,
    headers: { 'x-billing-status': billingStatus, ...headers },
    extensions: {
      limit: limits[field] ?? 0,
      remaining: 0,
      period_ended_at: endedAt,
      ...(limit === 'points' ? waysToGoOn(buyUrl) : {}),
    },
  });
}

/** Bought points are used up, too, when a call is refused for its points. */
function waysToGoOn(buyUrl: string | null): { credits_remaining: 0; buy_url?: string } {
  return buyUrl === null ? { credits_remaining: 0 } : { credits_remaining: 0, buy_url: buyUrl };
}

/** A day's budget is used up until midnight UTC, a period's until the period ends; either may be raised before. */
export function budgetExceeded(
  { kind, window, limit, nowMs }: ReachedBudget,
  { endedAt, billingStatus }: PayerEntitlement,
  headers: Readonly<Record<string, string>> = {},
): Problem {
  const isDay = window === 'day';
  const resetsMs = isDay ? (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS : Date.parse(endedAt) + 1_000;
  const retrySec = Math.ceil((resetsMs - nowMs) / 1_000);
  return new Problem('budget_exceeded', {
    detail: `The ${kind}'s budget of ${String(limit)} points per ${isDay ? 'day' : 'billing period'} is used up.`,
    headers: {
      'x-billing-status': billingStatus,
      ...headers,
      ...(isDay ? { 'retry-after': String(retrySec) } : {}),
    },
    extensions: {
      budget: kind,
      window,
      limit,
      remaining: 0,
      resets_at: new Date(resetsMs).toISOString().replace('.000Z', 'Z'),
      ...(isDay ? { retry_after_sec: retrySec } : {}),
    },
  });
}

type Refused = { kind: AdmissionKind; units: number; points: number; reservation: Reservation | null };

/** Strict points: something is left, but less than the operation would cost at most. */
export function notCovered(
  { points, left }: { points: number; left: number },
  payer: PayerEntitlement,
  budget: ReachedBudget | null,
  headers: Readonly<Record<string, string>> = {},
): Problem {
  const problem =
    budget === null ? periodLimitExceeded('points', payer, headers) : budgetExceeded(budget, payer, headers);
  const { credits_remaining: _, ...extensions } = problem.extensions;
  const where = budget === null ? 'in this billing period' : `of the ${budget.kind}'s budget`;
  return new Problem(problem.code, {
    detail: `The operation would cost up to ${String(points)} points; ${String(left)} are left ${where}.`,
    headers: problem.headers,
    extensions: { ...extensions, remaining: left, estimate: points },
  });
}

export function refused(
  limit: RefusedLimit,
  payer: PayerEntitlement,
  { kind, units, points, reservation }: Refused,
  decision: Pick<AdmissionDecision, 'waitUs' | 'budget' | 'pointsLeft' | 'budgetLeft'>,
  rateLimitState: RateLimitState,
): Problem {
  const { waitUs, budget } = decision;
  const headers = { ...rateLimitFields(rateLimitState), 'x-billing-status': payer.billingStatus };
  if (reservation !== null) {
    const left = limit === 'points' ? decision.pointsLeft : limit === 'budget' ? decision.budgetLeft : null;
    if (left !== null && left > 0) return notCovered({ points, left }, payer, budget, headers);
  }
  switch (limit) {
    case 'reserved':
      return new Problem('points_reserved', {
        detail: `The operation would cost up to ${String(points)} points, and calls in flight have reserved those that are left.`,
        headers: { ...headers, 'retry-after': String(SLOTS_RETRY_SEC) },
        extensions: { estimate: points, retry_after_sec: SLOTS_RETRY_SEC },
      });
    case 'points':
    case 'traffic':
    case 'time':
      return periodLimitExceeded(limit, payer, headers);
    case 'budget':
      if (budget === null) throw new Error("a budget that is not the caller's is used up");
      return budgetExceeded(budget, payer, headers);
    case 'rate': {
      const perMinute = payer.limits.rate_limit ?? 0;
      if (units > perMinute && perMinute > 0) return largerThanTheRate(perMinute, headers);
      const detail =
        units === 1
          ? `The plan allows ${String(perMinute)} calls per minute.`
          : `The plan allows ${String(perMinute)} calls per minute, and each operation of a batch counts as one.`;
      return tooMany('rate_limit_exceeded', detail, {
        headers,
        limit: perMinute,
        retrySec: perMinute === 0 ? NEVER_RETRY_SEC : Math.ceil(waitUs / 1_000_000),
      });
    }
    case 'slots': {
      const isCall = kind === 'call';
      const slots = (isCall ? payer.limits.session_limit : payer.limits.subscription_limit) ?? 0;
      const code = isCall ? 'session_limit_exceeded' : 'subscription_limit_exceeded';
      const what = isCall ? 'calls in flight' : 'open subscriptions';
      return tooMany(code, `The plan allows ${String(slots)} ${what} at a time.`, {
        headers,
        limit: slots,
        retrySec: slots === 0 ? NEVER_RETRY_SEC : SLOTS_RETRY_SEC,
      });
    }
  }
}

/** Waiting never helps: a minute's calls are the most that pass at once. */
function largerThanTheRate(perMinute: number, headers: Record<string, string>): Problem {
  return new Problem('batch_too_large', {
    detail: `The plan allows ${String(perMinute)} calls per minute, so a batch may have as many operations.`,
    headers,
    extensions: { limit: perMinute },
  });
}

function tooMany(
  code: ErrorCode,
  detail: string,
  { headers, limit, retrySec }: { headers: Record<string, string>; limit: number; retrySec: number },
): Problem {
  return new Problem(code, {
    detail,
    headers: { ...headers, 'retry-after': String(retrySec) },
    extensions: { limit, remaining: 0, retry_after_sec: retrySec },
  });
}
