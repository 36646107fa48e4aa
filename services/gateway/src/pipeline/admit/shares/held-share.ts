import type { CallerBudgets } from '../../../ledger/budgets.ts';
import type { PayerEntitlement } from '../../../ledger/principal.ts';
import { leasesKey } from '../../../ledger/keys.ts';
import { rateAt } from '../../../ledger/admit-script.ts';
import type { AdmissionDecision } from '../../../ledger/admit-script.ts';
import { NO_LEASE } from '../../../ledger/leases.ts';
import type { Lease, Leases } from '../../../ledger/leases.ts';
import { CALL } from '../../../ledger/rate-lua.ts';
import type { Grant, SyncReport } from '../../../ledger/share-script.ts';
import { createSharedSlots } from './shared-slots.ts';

/** The most that a call may be admitted after the request for its share was sent. Redis reserves the share longer. */
export const MAX_TRUST_MS = 400;

/**
 * What this gateway holds of one payer's limits. Times are of performance.now().
 * The sum of all gateways' calls is never above what Redis keeps for them, so admitting one needs no request.
 */
export type HeldShare = {
  payer: PayerEntitlement;
  /** Whether it admits calls that are held to these budgets. */
  covers: (budgets: CallerBudgets | null) => boolean;
  hasBudgets: () => boolean;
  /** Null if the share has no room. Its units count as used; its lease takes one of the share's slots. */
  admit: (nowMs: number, units: number) => { decision: AdmissionDecision; lease: Lease } | null;
  /** Calls that can still be made. */
  callsLeft: () => number;
  /** Calls that were made and not reported. */
  unreported: () => number;
  slotsInUse: () => number;
  slots: () => number;
  report: (nowMs: number) => SyncReport;
  /** The report was taken, with the share renewed if there is a grant. */
  reported: (used: number, renewed: { grant: Grant; sentMs: number } | null) => void;
  /** The period's usage after a settlement. */
  onUsage: (points: number, trafficBytes: number) => void;
  /** A call that Redis admitted meanwhile. */
  onOtherCall: (nowMs: number, units: number) => void;
  /** No call is admitted until it is renewed. */
  suspend: () => void;
  /** No call is admitted any more. */
  end: () => void;
  isEnded: () => boolean;
  /** Members of the calls in flight that need a lease now. */
  moveSlots: () => string[];
};

export type HeldShareOptions = {
  payer: PayerEntitlement;
  grant: Grant;
  sentMs: number;
  trustMs: number;
  nowMs: () => number;
  leases: Pick<Leases, 'hold' | 'newMember'>;
};

export function createHeldShare(options: HeldShareOptions): HeldShare {
  const { payer, trustMs, leases } = options;
  const { rate_limit, session_limit, points_limit, traffic_bytes_limit } = payer.limits;
  const slots = createSharedSlots(leasesKey('calls', payer.payerId), leases);
  let { grant } = options;
  let untilMs = options.sentMs + trustMs;
  let calls = grant.calls;
  let used = 0;
  let level = grant.level;
  let levelAtMs = options.nowMs();
  let ended = false;

  /** As the script computes it, so that answers state what they would have. */
  function levelAt(nowMs: number): number {
    if (rate_limit === null) return 0;
    level = Math.max(level - Math.max(nowMs - levelAtMs, 0) * 1_000 * rate_limit, 0);
    levelAtMs = nowMs;
    return level;
  }

  function hasRoom(nowMs: number, units: number): boolean {
    if (ended || nowMs >= untilMs || calls < units || slots.inUse() >= grant.slots) return false;
    if (grant.pointsUsed >= grant.pointsLimit) return false;
    return traffic_bytes_limit === null || grant.trafficBytesUsed < traffic_bytes_limit;
  }

  return {
    payer,
    covers: (budgets) => budgets === null || grant.budgets.has(budgets.argument),
    hasBudgets: () => grant.budgets.size > 0,
    admit: (nowMs, units) => {
      if (!hasRoom(nowMs, units)) return null;
      calls -= units;
      used += units;
      level = levelAt(nowMs) + units * CALL;
      const pointsLeft = points_limit === null ? null : grant.pointsLimit - grant.pointsUsed;
      return {
        decision: {
          outcome: 'admitted',
          pointsLeft,
          ...rateAt(rate_limit, level, units),
          budget: null,
          budgetLeft: null,
        },
        lease: session_limit === null ? NO_LEASE : slots.take(),
      };
    },
    callsLeft: () => calls,
    unreported: () => used,
    slotsInUse: slots.inUse,
    slots: () => grant.slots,
    report: (nowMs) => ({ isHeld: true, used, rateState: grant.rateState, level: levelAt(nowMs) }),
    reported: (reportedCalls, renewed) => {
      used -= reportedCalls;
      if (renewed === null) return;
      ({ grant } = renewed);
      untilMs = renewed.sentMs + trustMs;
      // Calls were made of it while the report was under way.
      calls = grant.calls - used;
      level = grant.level + used * CALL;
      levelAtMs = options.nowMs();
    },
    onUsage: (pointsUsed, trafficBytesUsed) => {
      grant = { ...grant, pointsUsed, trafficBytesUsed };
    },
    onOtherCall: (nowMs, units) => {
      level = levelAt(nowMs) + units * CALL;
    },
    suspend: () => {
      untilMs = -Infinity;
    },
    end: () => {
      ended = true;
    },
    isEnded: () => ended,
    moveSlots: slots.moveToRedis,
  };
}
