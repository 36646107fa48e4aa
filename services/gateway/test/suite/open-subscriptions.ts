import { expect, jest } from '@jest/globals';
import type { Limits } from '@tollgate/contracts/entitlement';
import type { Problem } from '@tollgate/http/problem';
import type { LeaseEntry } from '../../src/ledger/leases.ts';
import { callerBudgets } from '../../src/ledger/budgets.ts';
import { payerCredits } from '../../src/ledger/credits.ts';
import type { PayerEntitlement } from '../../src/ledger/principal.ts';
import { OpenSubscriptions, newSubscription } from '../../src/streams/open-subscriptions.ts';
import type { Subscription } from '../../src/streams/open-subscriptions.ts';
import type { LiveUsage } from '../../src/ledger/record-script.ts';
import type { UntimedUsage } from '../../src/ledger/usage-event.ts';

export const INTERVAL_MS = 5_000;
export const FIRST_MS = 1_000;
export const UNUSED: LiveUsage = { points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 };
const UNLIMITED: Limits = {
  points_limit: null,
  time_sec_limit: null,
  traffic_bytes_limit: null,
  rate_limit: null,
  session_limit: null,
  subscription_limit: null,
  team_slots_limit: null,
};

export function payerOf(
  payerId: number,
  limits: Partial<Limits> = {},
  periodId = payerId * 10,
): PayerEntitlement {
  return {
    payerId,
    periodId,
    lane: 0,
    billingStatus: 'active',
    endedAt: '2026-12-31T23:59:59.000Z',
    limits: { ...UNLIMITED, ...limits },
    credits: null,
    budgets: null,
    callRules: null,
    reservesPoints: false,
    documentLimit: null,
    buyUrl: null,
  };
}

export const token = {
  active: true as const,
  client_id: 'client',
  sub: '7',
  account_id: 7,
  application_id: 8,
  scope: 'api',
  token_type: 'bearer' as const,
  iat: 0,
  exp: 1,
  expires_in_ms: 1,
  revocation_epoch: 0,
};

export type Recorded = UntimedUsage & { lease: LeaseEntry | null };

/** Microtasks, which fake timers leave alone. */
export async function flush(): Promise<void> {
  for (let count = 0; count < 10; count += 1) await Promise.resolve();
}

const MEMBER = { member: { points_per_period: null, points_per_day: 10 } };
const BUDGETS = callerBudgets(MEMBER, { accountId: token.account_id, applicationId: null });
const CREDITS = payerCredits({ included: 0, settled: 0, open_periods: [], grants: [] });

/**
 * Open subscriptions of one principal, under Jest's fake timers. With `credits` the payer has these points left, null
 * while that isn't known. With `budget` the caller's has these.
 */
export function openSubscriptions(
  limits: Partial<Limits> = {},
  pointsPerMinute = 0,
  credits?: { left: number | null },
  budget?: { left: number },
) {
  const recorded: Recorded[] = [];
  const unacknowledged: ((live: LiveUsage | null) => void)[] = [];
  const exhausted: Problem[] = [];
  const lost: Problem[] = [];
  const primed: number[] = [];
  const slots: { payerId: number; released: boolean }[] = [];
  let refusal: Problem | null = null;
  const subscriptions = new OpenSubscriptions<Subscription>({
    record: (usage, _lane, lease = null) => {
      recorded.push({ ...usage, lease });
      return new Promise((resolve) => unacknowledged.push(resolve));
    },
    primePayer: ({ periodId }) => {
      primed.push(periodId);
      return Promise.resolve();
    },
    readPointsLeft: () =>
      Promise.resolve(
        credits?.left === null
          ? null
          : {
              ofPayer: credits?.left ?? Infinity,
              ofBudgets: budget?.left ?? Infinity,
              unreserved: Infinity,
              ofReached: budget?.left ?? Infinity,
              reached: budget?.left === 0 ? { kind: 'member', window: 'day', limit: 10, nowMs: 0 } : null,
            },
      ),
    principal: {
      token,
      payer: {
        ...payerOf(1, limits),
        credits: credits === undefined ? null : CREDITS,
        budgets: budget === undefined ? null : BUDGETS,
      },
    },
    settleIntervalMs: INTERVAL_MS,
    pointsPerMinute,
    onExhausted: (problem) => exhausted.push(problem),
    admit: async ({ payerId }) => {
      await Promise.resolve();
      if (refusal !== null) throw refusal;
      const slot = { payerId, released: false };
      slots.push(slot);
      const release = () => {
        slot.released = true;
      };
      const handOver = () => {
        release();
        return { key: `payer ${String(payerId)}`, member: 'm' };
      };
      return { rateLimitState: { pointsRemaining: null, rate: null }, lease: { release, handOver } };
    },
    onSlotLost: (_subscription, problem) => lost.push(problem),
  });
  return {
    subscriptions,
    recorded,
    unacknowledged,
    exhausted,
    lost,
    primed,
    slots,
    refuseWith: (problem: Problem) => {
      refusal = problem;
    },
    acknowledge: async (live: LiveUsage | null = UNUSED) => {
      for (const resolve of unacknowledged.splice(0)) resolve(live);
      await flush();
    },
    start: async () => {
      const subscription = newSubscription(null);
      expect(await subscriptions.takeSlot(subscription)).toBe(true);
      subscriptions.begin(subscription, performance.now(), FIRST_MS);
      return subscription;
    },
    pass: (timeMs: number) => {
      jest.advanceTimersByTime(timeMs);
      void subscriptions.settleWhenDue(performance.now());
    },
  };
}
