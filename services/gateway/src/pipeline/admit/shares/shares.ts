import { setTimeout as delay } from 'node:timers/promises';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { PayerEntitlement } from '../../../ledger/principal.ts';
import type { LiveUsage } from '../../../ledger/record-script.ts';
import type { AdmissionDecision } from '../../../ledger/admit-script.ts';
import { INTERVAL_MS, createSharePolicy } from './share-policy.ts';
import type { LocalAdmission, SharePolicy, SharePolicyOptions } from './share-policy.ts';

export type SharesOptions = Omit<SharePolicyOptions, 'nowMs'> & {
  nowMs?: () => number;
  /** Calls `tick` every INTERVAL_MS until the returned function is called. */
  every?: (tick: () => void) => () => void;
};

export type Shares = {
  /** Null if Redis has to decide. */
  admit: (payer: PayerEntitlement, units: number) => LocalAdmission | null;
  /** Redis has decided on a call. The returned decision also states calls that were not reported to it. */
  onDecision: (payer: PayerEntitlement, decision: AdmissionDecision, units: number) => AdmissionDecision;
  /** Redis has acknowledged usage; `live` are the counters after it. */
  onMetered: (events: readonly UsageEvent[], live: ReadonlyMap<number, LiveUsage>) => void;
  /** Resolves when no gateway uses a share of the period that was granted before, at the latest after `forMs`. */
  returned: (event: Pick<UsageEvent, 'payer_id' | 'period_id'>, forMs: number) => Promise<void>;
  /** A message of SHARE_CHANNEL. Null or an unreadable one: some may have been missed. */
  onMessage: (message: string | null) => void;
  slotsInUse: () => number;
  /** Resolves when all shares are returned. */
  close: () => Promise<void>;
};

const POLL_MS = 3;

/**
 * Shares of busy payers' limits, from which this gateway admits calls without asking Redis (docs/design/admission.md).
 * Redis counts a share as taken until it is returned or expires, so all gateways together never exceed a limit.
 */
export function createShares(options: SharesOptions): Shares {
  const { scripts, every = everyInterval, nowMs = () => performance.now() } = options;
  const policies = new Map<number, SharePolicy>();
  let stopTicking: (() => void) | null = null;
  let closed = options.trustMs === 0;

  function tick(): void {
    for (const [payerId, policy] of policies) if (!policy.endInterval()) policies.delete(payerId);
    if (policies.size > 0) return;
    stopTicking?.();
    stopTicking = null;
  }

  function policyOf(payer: PayerEntitlement): SharePolicy {
    const known = policies.get(payer.payerId);
    if (known !== undefined) return known;
    const policy = createSharePolicy(payer, { ...options, nowMs });
    policies.set(payer.payerId, policy);
    stopTicking ??= every(tick);
    return policy;
  }

  async function recall(payerId: number | null): Promise<void> {
    const recalled = [...policies].filter(([id]) => payerId === null || id === payerId);
    await Promise.all(recalled.map(([, policy]) => policy.recall()));
  }

  async function untilReturned(
    { payer_id, period_id }: Pick<UsageEvent, 'payer_id' | 'period_id'>,
    untilMs: number,
  ): Promise<void> {
    await recall(payer_id);
    while (performance.now() < untilMs) {
      if (!(await scripts.areOutstanding(payer_id, period_id).catch(() => true))) return;
      await delay(POLL_MS);
    }
  }

  return {
    admit: (payer, units) => policies.get(payer.payerId)?.admit(payer, units) ?? null,
    onDecision: (payer, decision, units) =>
      closed ? decision : policyOf(payer).onDecision(payer, decision, units),
    onMetered: (events, live) => {
      for (const { payer_id, period_id, points, traffic_bytes } of events) {
        const used = live.get(period_id);
        policies
          .get(payer_id)
          ?.onSettled(
            period_id,
            { points, trafficBytes: traffic_bytes },
            used === undefined ? null : { points: used.points, trafficBytes: used.traffic_bytes },
          );
      }
    },
    returned: async (event, forMs) => {
      const wait = new AbortController();
      // Redis may take long to answer, and to take a share back.
      const expired = delay(forMs, undefined, { signal: wait.signal }).catch(() => undefined);
      await Promise.race([expired, untilReturned(event, performance.now() + forMs)]);
      wait.abort();
    },
    onMessage: (message) => {
      const [, isRefresh, payerId] = /^(refresh )?(\d+)$/.exec(message ?? '') ?? [];
      if (payerId === undefined) void recall(null);
      else if (isRefresh === undefined) void recall(Number(payerId));
      else policies.get(Number(payerId))?.refresh();
    },
    slotsInUse: () => [...policies.values()].reduce((sum, policy) => sum + policy.slotsInUse(), 0),
    close: async () => {
      closed = true;
      stopTicking?.();
      await recall(null);
    },
  };
}

function everyInterval(tick: () => void): () => void {
  const timer = setInterval(tick, INTERVAL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
