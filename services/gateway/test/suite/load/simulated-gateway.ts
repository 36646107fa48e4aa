import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limits } from '@tollgate/contracts/entitlement';
import { SHARE_CHANNEL } from '@tollgate/contracts/usage-stream';
import type { UsageSnapshot } from '@tollgate/contracts/usage-stream';
import { Problem } from '@tollgate/http/problem';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { batchWrites } from '@tollgate/redis/batch-writes';
import { waitFor } from '@tollgate/stack/wait-for';
import { BUDGET_OWNERS, callerBudgets } from '../../../src/ledger/budgets.ts';
import { createAdmission } from '../../../src/pipeline/admit/admit.ts';
import type { Admit } from '../../../src/pipeline/admit/admit.ts';
import { createAdmissionScript } from '../../../src/ledger/admit-script.ts';
import { batchAdmissions } from '../../../src/pipeline/admit/batch-admissions.ts';
import { createLeases } from '../../../src/ledger/leases.ts';
import type { Lease } from '../../../src/ledger/leases.ts';
import { MAX_TRUST_MS } from '../../../src/pipeline/admit/shares/held-share.ts';
import { createShareScripts } from '../../../src/ledger/share-script.ts';
import { createShares } from '../../../src/pipeline/admit/shares/shares.ts';
import type { Shares } from '../../../src/pipeline/admit/shares/shares.ts';
import type { PayerEntitlement } from '../../../src/ledger/principal.ts';
import { createPrime, createPrimePayer, createPrimeLane } from '../../../src/ledger/prime.ts';
import type { LastOfLane, PrimeLane } from '../../../src/ledger/prime.ts';
import { createPrimeFrom } from '../../../src/ledger/prime-script.ts';
import { createSendBatch } from '../../../src/ledger/record-script.ts';
import { createUsageRecorder } from '../../../src/ledger/record-usage.ts';
import type { UsageRecorder } from '../../../src/ledger/record-usage.ts';
import type { UntimedUsage } from '../../../src/ledger/usage-event.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What a gateway does from admission to settlement, by its own code over a real Redis, without HTTP. */
export type SimulatedGateway = {
  admit: Admit;
  record: UsageRecorder['record'];
  /** The lease of an admitted call, or the code of the refusal. */
  call: (payer: PayerEntitlement, units?: number, points?: number) => Promise<Lease | string>;
  /** Ends a call; resolves when its usage is acknowledged. */
  settle: (payer: PayerEntitlement, lease: Lease, points: number) => Promise<void>;
  /** Ends the intervals after which shares are renewed. */
  endInterval: () => Promise<void>;
  /** Doesn't hear recalls from now on, and doesn't notice. */
  goDeaf: () => unknown;
  /** Notices that it may have missed recalls. */
  loseTrust: () => void;
  /** Gets no replies to what it reports of its shares, until the end of the next interval. */
  loseRenewals: () => void;
  /** Ends the interval; resolves when Redis has been sent the renewals, before it replies. */
  beginRenewals: () => Promise<void>;
  /** Ends as by kill -9. */
  kill: () => void;
  close: () => Promise<void>;
};

export type SimulationOptions = {
  redisUrl: string;
  /** Real time without it. */
  clock?: VirtualClock;
  trustMs?: number;
  /** Between batches of a lane (SETTLEMENT_INTERVAL_MS). */
  intervalMs?: number;
  /** What account has counted of a period. */
  snapshot: (periodId: number) => Pick<UsageSnapshot, 'points' | 'stream_position'> & { payer_id: number };
  onDecided?: (by: 'share' | 'redis' | 'recall') => void;
};

/** On a slow machine, shares take long to expire by a virtual clock. */
const VIRTUAL_RECALL_TIMEOUT_MS = 30_000;

const logger = createLogger('suite', 'silent');

export async function startSimulatedGateway(options: SimulationOptions): Promise<SimulatedGateway> {
  const { redisUrl, clock, trustMs = MAX_TRUST_MS } = options;
  const redis = openRedis(redisUrl, logger);
  batchWrites(redis);
  clock?.rule(redis);
  const subscriber = openRedis(redisUrl, logger);
  await waitFor(() => redis.status === 'ready' && subscriber.status === 'ready');
  const gatewayId = randomUUID();
  const leases = createLeases(redis, logger);
  let tick: (() => void) | undefined;
  let isTrusted = true;
  let losesRenewals = false;
  const scripts = createShareScripts(redis, gatewayId);
  const shares = createShares({
    scripts: {
      ...scripts,
      sync: async (...request) => {
        const isLost = losesRenewals;
        const answer = await scripts.sync(...request);
        if (isLost) throw new Error('Connection is closed.');
        return answer;
      },
    },
    leases,
    trustMs,
    canBeRecalled: () => isTrusted,
    ...(clock === undefined ? {} : { nowMs: clock.nowMs, every: everyCall }),
  });
  function everyCall(next: () => void) {
    tick = next;
    return () => (tick = undefined);
  }
  await follow(subscriber, shares);
  const lastOfLane: LastOfLane = new Map();
  const prime = createPrime({
    account: { get: accountOf(options.snapshot) },
    primeFrom: createPrimeFrom(redis),
    lastOfLane,
  });
  const recorder = recorderOf(options, redis, gatewayId, createPrimeLane(prime, lastOfLane), shares);
  const admit = createAdmission({
    decide: batchAdmissions(createAdmissionScript(redis)),
    primePayer: createPrimePayer(prime),
    leases,
    shares,
    canRecord: recorder.canRecord,
    ...(clock === undefined ? {} : { recallTimeoutMs: VIRTUAL_RECALL_TIMEOUT_MS }),
    onDecided: options.onDecided ?? (() => undefined),
  });
  const close = () => {
    leases.close();
    redis.disconnect();
    subscriber.disconnect();
  };
  return {
    admit,
    record: recorder.record,
    call: (payer, units = 1, points = 0) => leaseOrCode(() => admit(payer, 'call', units, points)),
    settle: async (payer, lease, points) => {
      await recorder.record(usageOf(payer, points), payer.lane, lease.handOver());
      lease.release();
    },
    endInterval: async () => {
      tick?.();
      // A renewal, and the return after its refusal.
      for (let answers = 0; answers < 2; answers += 1) await redis.ping();
      losesRenewals = false;
    },
    loseRenewals: () => {
      losesRenewals = true;
    },
    beginRenewals: async () => {
      tick?.();
      // The end of the batch, and by a virtual clock that of the script's text.
      for (let turns = 0; turns < 3; turns += 1) await nextTurn();
    },
    loseTrust: () => {
      isTrusted = false;
    },
    goDeaf: () => subscriber.removeAllListeners('message'),
    kill: () => {
      tick = undefined;
      close();
    },
    close: async () => {
      await shares.close();
      close();
    },
  };
}

function recorderOf(
  { intervalMs = 0 }: SimulationOptions,
  redis: RedisConnection,
  gatewayId: string,
  primeLane: PrimeLane,
  shares: Shares,
): UsageRecorder {
  return createUsageRecorder({
    gatewayId,
    send: createSendBatch(redis),
    primeLane,
    redisIsReady: () => redis.status === 'ready',
    maxQueuedEvents: 100_000,
    intervalMs,
    nowMs: Date.now,
    logger,
    onMetered: shares.onMetered,
    sharesReturned: shares.returned,
  });
}

async function follow(subscriber: RedisConnection, shares: Shares): Promise<void> {
  await subscriber.subscribe(SHARE_CHANNEL);
  subscriber.on('message', (_channel: string, message: string) => {
    shares.onMessage(message);
  });
}

async function leaseOrCode(admit: () => ReturnType<Admit>): Promise<Lease | string> {
  try {
    return (await admit()).lease;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

/** Of one call. */
export function usageOf({ payerId, periodId }: PayerEntitlement, points: number): UntimedUsage {
  const ids = {
    payer_id: payerId,
    period_id: periodId,
    account_id: payerId,
    application_id: APPLICATION_ID,
  };
  return { ...ids, api_version: 'v2', points, requests: 1, time_ms: 0, traffic_bytes: 1, operation: null };
}

function accountOf(snapshot: SimulationOptions['snapshot']) {
  return <T>(path: string, schema: { parse: (value: unknown) => T }): Promise<T> => {
    const { pathname, searchParams } = new URL(path, 'http://account');
    const periodId = Number(pathname.split('/').at(-1));
    const { points } = snapshot(periodId);
    // All calls are of one application.
    const budgets = { application: { points, days: [] } };
    const counted: UsageSnapshot = {
      period_id: periodId,
      requests: 0,
      time_ms: 0,
      traffic_bytes: 0,
      usage_version: 0,
      usage_lane: 0,
      ...snapshot(periodId),
      ...(searchParams.has(BUDGET_OWNERS.application) && { budgets }),
    };
    return Promise.resolve(schema.parse(counted));
  };
}

const NO_LIMITS: Limits = {
  points_limit: null,
  rate_limit: null,
  session_limit: null,
  subscription_limit: null,
  time_sec_limit: null,
  traffic_bytes_limit: null,
  team_slots_limit: null,
};

/** All kinds of which there are counters, and beyond what a test uses. */
export const WIDE_LIMITS: Partial<Limits> = {
  points_limit: 1_000_000_000_000,
  rate_limit: 100_000_000,
  session_limit: 100_000,
};

const APPLICATION_ID = 1;

/** Whose usage all goes to one lane, as by default. `budget`: of the calling application, per period. */
export function payerWith(
  payerId: number,
  limits: Partial<Limits>,
  budget: number | null = null,
): PayerEntitlement {
  const applications = [{ application_id: APPLICATION_ID, points_per_period: budget, points_per_day: null }];
  return {
    payerId,
    periodId: payerId * 10,
    lane: 0,
    billingStatus: 'active',
    endedAt: '2099-12-31T23:59:59Z',
    limits: { ...NO_LIMITS, ...limits },
    credits: null,
    budgets: callerBudgets({ applications }, { accountId: payerId, applicationId: APPLICATION_ID }),
    callRules: null,
    reservesPoints: false,
    documentLimit: null,
    buyUrl: null,
  };
}
