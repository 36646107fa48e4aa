import type { PayerEntitlement } from '../../../ledger/principal.ts';
import type { AdmissionDecision } from '../../../ledger/admit-script.ts';
import type { Lease } from '../../../ledger/leases.ts';
import { CALL } from '../../../ledger/rate-lua.ts';
import { createRecentUse } from './recent-use.ts';
import { createShareRequests } from './share-requests.ts';
import type { ShareRequestsOptions } from './share-requests.ts';

export type LocalAdmission = { decision: AdmissionDecision; lease: Lease };

export type SharePolicyOptions = ShareRequestsOptions & {
  /** While no recall can have been missed. */
  canBeRecalled: () => boolean;
};

type Amounts = { points: number; trafficBytes: number };

/** When a payer has a share of this gateway, how large, and what calls are admitted from it. */
export type SharePolicy = {
  admit: (payer: PayerEntitlement, units: number) => LocalAdmission | null;
  /** Redis has decided on a call. The returned decision also states calls that were not reported to it. */
  onDecision: (payer: PayerEntitlement, decision: AdmissionDecision, units: number) => AdmissionDecision;
  /** What calls cost, and the period's usage after them; null if Redis doesn't know it. */
  onSettled: (periodId: number, cost: Amounts, used: Amounts | null) => void;
  /** Called after each interval; false if there is nothing to remember. */
  endInterval: () => boolean;
  /** Returns the share and asks for none for a while. Resolves when Redis has it. */
  recall: () => Promise<void>;
  /** The period's usage has changed: no call is admitted until Redis has told it. */
  refresh: () => void;
  slotsInUse: () => number;
};

export const INTERVAL_MS = 100;

/** Calls of a payer in an interval, on average, from which a share costs Redis less than to decide on each. */
const MIN_AVERAGE_CALLS = 1;

/** A share is renewed after this part of the time for which it is trusted. */
const RENEWAL_PART = 5 / 8;

const IDLE_INTERVALS = 3;
const MIN_RENEWAL_PAUSE_MS = 20;

export function createSharePolicy(first: PayerEntitlement, options: SharePolicyOptions): SharePolicy {
  const { canBeRecalled, nowMs } = options;
  const renewalMs = RENEWAL_PART * options.trustMs;
  const use = createRecentUse();
  const requests = createShareRequests(options);
  let payer = first;
  let idleIntervals = 0;

  function sync(): void {
    // What they use counts against the same credits, and no settlement of theirs would recall the share.
    if (payer.credits !== null && payer.credits.openPeriodIds.length > 0) return;
    requests.sync(payer, use.need());
  }

  function isWanted(): boolean {
    return use.averageCalls() >= MIN_AVERAGE_CALLS && !requests.isQuiet();
  }

  return {
    admit: (called, units) => {
      const share = requests.share();
      if (share === null || !canBeRecalled()) return null;
      if (!haveSameLimits(share.payer, called)) {
        requests.end();
        return null;
      }
      if (!share.covers(called.budgets)) return null;
      if (called.budgets !== null) use.countBudgets(called.budgets.argument);
      const admitted = share.admit(nowMs(), units);
      if (admitted !== null) use.countCall(share.slotsInUse(), units);
      // An interval's worth is left, so that calls needn't wait for the renewal.
      if (share.callsLeft() <= use.calls() && requests.sinceSyncMs() >= MIN_RENEWAL_PAUSE_MS) sync();
      return admitted;
    },
    onDecision: (called, decision, units) => {
      const share = requests.share();
      const isAdmitted = decision.outcome === 'admitted';
      if (isAdmitted) use.countCall(share?.slotsInUse() ?? 0, units);
      if (isAdmitted && called.budgets !== null) use.countBudgets(called.budgets.argument);
      payer = called;
      if (share === null) return decision;
      if (isAdmitted) share.onOtherCall(nowMs(), units);
      return withUnreported(called, decision, share.unreported());
    },
    onSettled: (periodId, cost, used) => {
      use.countUsage(cost.points, cost.trafficBytes);
      const share = requests.share();
      if (share?.payer.periodId !== periodId) return;
      const { points_limit, traffic_bytes_limit } = share.payer.limits;
      if (used !== null) share.onUsage(used.points, used.trafficBytes);
      // Redis has lost the live counters.
      else if (points_limit !== null || traffic_bytes_limit !== null || share.hasBudgets()) requests.end();
    },
    endInterval: () => {
      const calls = use.endInterval();
      idleIntervals = calls > 0 ? 0 : idleIntervals + 1;
      const isIdle = idleIntervals >= IDLE_INTERVALS;
      const isHeld = requests.share() !== null;
      if (isHeld) {
        if (isIdle || !canBeRecalled()) requests.end();
        else if (requests.sinceSyncMs() >= renewalMs) sync();
      } else if (isWanted() && canBeRecalled()) sync();
      return isHeld || requests.isAsking() || !isIdle;
    },
    recall: requests.recall,
    refresh: () => {
      requests.suspend();
      sync();
    },
    slotsInUse: () => requests.share()?.slotsInUse() ?? 0,
  };
}

/** Of what a share contains: a call is held to its own entitlement, whichever the share was granted for. */
function haveSameLimits(one: PayerEntitlement, other: PayerEntitlement): boolean {
  if (one === other) return true;
  return (
    one.periodId === other.periodId &&
    one.credits?.argument === other.credits?.argument &&
    one.limits.points_limit === other.limits.points_limit &&
    one.limits.traffic_bytes_limit === other.limits.traffic_bytes_limit &&
    one.limits.rate_limit === other.limits.rate_limit &&
    one.limits.session_limit === other.limits.session_limit
  );
}

function withUnreported(
  { limits: { rate_limit } }: PayerEntitlement,
  decision: AdmissionDecision,
  calls: number,
): AdmissionDecision {
  if (calls === 0 || rate_limit === null || rate_limit <= 0) return decision;
  const { callsLeft, resetUs } = decision;
  return {
    ...decision,
    callsLeft: Math.max(callsLeft - calls, 0),
    resetUs: resetUs + Math.ceil((calls * CALL) / rate_limit),
  };
}
