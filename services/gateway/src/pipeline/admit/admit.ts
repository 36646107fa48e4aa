import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../../ledger/principal.ts';
import type { PrimePayer } from '../../ledger/prime.ts';
import { leasesKey, reservationsKey } from '../../ledger/keys.ts';
import type {
  AdmissionKind,
  AdmissionDecision,
  RefusedLimit,
  Reservation,
} from '../../ledger/admit-script.ts';
import { NO_LEASE, together } from '../../ledger/leases.ts';
import type { Lease, Leases } from '../../ledger/leases.ts';
import { reservation } from '../../ledger/reservations.ts';
import { refused } from './refused.ts';
import { rateLimitStateOf } from './rate-limit-state.ts';
import type { RateLimitState } from './rate-limit-state.ts';
import type { DecideAdmission } from './batch-admissions.ts';
import type { Shares } from './shares/shares.ts';
import type { Operations } from '../../operation-reader/operation-reader.ts';

type Admitted = { rateLimitState: RateLimitState; lease: Lease };

/**
 * `units` of the rate, above 0: all or none. `points` are reserved if the payer's are strict, beside those that the same
 * operation has `held` already. A promise unless a share decides.
 */
export type Admit = (
  payer: PayerEntitlement,
  kind: AdmissionKind,
  units: number,
  points: number,
  held?: number,
) => Admitted | Promise<Admitted>;

/** A call that Redis decides on. */
type Asked = {
  kind: AdmissionKind;
  member: string;
  units: number;
  /** What the operation costs at most, with what it has reserved already. */
  points: number;
  reservation: Reservation | null;
};

export type AdmissionOptions = {
  decide: DecideAdmission;
  primePayer: PrimePayer;
  leases: Pick<Leases, 'newMember' | 'hold'>;
  canRecord: (lane: number) => boolean;
  /** Of this gateway, to admit calls without Redis; calls only, since subscriptions are few. */
  shares?: Pick<Shares, 'admit' | 'onDecision'>;
  /** How long a call waits for shares that stand in its way. Default: 2 s. */
  recallTimeoutMs?: number;
  onAdmission?: (outcome: AdmissionDecision['outcome'] | 'unavailable') => void;
  /** Who decided on a call: this gateway from a share, or Redis, perhaps after a recall. */
  onDecided?: (by: 'share' | 'redis' | 'recall') => void;
};

/** Live counters can be lost again between priming and use. */
const ATTEMPTS = 3;

/** Returned shares arrive within milliseconds, and the others expire within a second. */
const RECALL_TIMEOUT_MS = 2_000;
const RECALL_POLL_MIN_MS = 2;
const RECALL_POLL_MAX_MS = 50;
/** Reservations take seconds to be restored, and their calls are asked for one by one. */
const RESTORING_POLL_MAX_MS = 500;

/**
 * Admits a call: one script checks the plan's limits, exactly over all gateways (docs/design/admission.md), unless this
 * one holds a share of them (docs/design/admission.md). Shares hold no reserved points, so Redis decides where there are
 * any.
 * @throws {Problem} (the promise) points_limit_exceeded, budget_exceeded, traffic_limit_exceeded, time_limit_exceeded;
 * points_reserved; rate_limit_exceeded; session_limit_exceeded or subscription_limit_exceeded; service_unavailable if
 * Redis is away or behind, usage couldn't be recorded, or account is needed and away.
 */
export function createAdmission(options: AdmissionOptions): Admit {
  const { decide, primePayer, leases, canRecord, shares, onAdmission, onDecided } = options;
  const { recallTimeoutMs = RECALL_TIMEOUT_MS } = options;

  const decideOn = (payer: PayerEntitlement, { kind, member, units, reservation }: Asked) =>
    decide(payer, kind, member, units, reservation);

  async function decisionFor(payer: PayerEntitlement, asked: Asked): Promise<AdmissionDecision> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const decision = await decideOn(payer, asked);
      if (isPostponed(decision)) return afterRecall(payer, asked, decision);
      if (decision.outcome !== 'unprimed') return decision;
      await primePayer(payer);
    }
    throw unavailable('the live counters were lost repeatedly');
  }

  /** Other gateways return what they don't use; then it is known whether the call exceeds a limit. */
  async function afterRecall(
    payer: PayerEntitlement,
    asked: Asked,
    { outcome }: AdmissionDecision,
  ): Promise<AdmissionDecision> {
    const maxMs = outcome === 'restoring' ? RESTORING_POLL_MAX_MS : RECALL_POLL_MAX_MS;
    const untilMs = performance.now() + recallTimeoutMs;
    for (let pollMs = RECALL_POLL_MIN_MS; performance.now() < untilMs; pollMs *= 2) {
      await delay(Math.min(pollMs, maxMs));
      const decision = await decideOn(payer, asked);
      if (isPostponed(decision)) continue;
      onDecided?.('recall');
      if (decision.outcome === 'unprimed') break;
      return decision;
    }
    throw unavailable('shares or reservations of the limits were not returned');
  }

  async function decisionOfRedis(payer: PayerEntitlement, asked: Asked): Promise<AdmissionDecision> {
    const decision = await decisionFor(payer, asked).catch((cause: unknown) => {
      onAdmission?.('unavailable');
      throw cause instanceof Problem ? cause : new Problem('service_unavailable', { cause });
    });
    return asked.kind === 'call' && shares !== undefined && asked.reservation === null
      ? shares.onDecision(payer, decision, asked.units)
      : decision;
  }

  async function admitByRedis(
    payer: PayerEntitlement,
    kind: AdmissionKind,
    units: number,
    points: number,
    held: number,
  ): Promise<Admitted> {
    const member = leases.newMember();
    const reserves = payer.reservesPoints && points > 0;
    const asked = {
      kind,
      member,
      units,
      points: points + held,
      reservation: reserves ? { member: reservation(points, member, payer.budgets), held } : null,
    };
    const decision = await decisionOfRedis(payer, asked);
    onDecided?.('redis');
    onAdmission?.(decision.outcome);
    const rateLimitState = rateLimitStateOf(payer.limits, decision);
    const { outcome } = decision;
    if (isRefusal(outcome)) {
      throw refused(outcome, payer, asked, decision, rateLimitState);
    }
    return { rateLimitState, lease: leaseOf(payer, asked, leases) };
  }

  return (payer, kind, units, points, held = 0) => {
    if (!canRecord(payer.lane)) {
      onAdmission?.('unavailable');
      return Promise.reject(unavailable('usage cannot be recorded at the moment'));
    }
    const mayShare = kind === 'call' && !payer.reservesPoints;
    const local = mayShare ? shares?.admit(payer, units) : undefined;
    if (local) {
      onDecided?.('share');
      onAdmission?.('admitted');
      return { rateLimitState: rateLimitStateOf(payer.limits, local.decision), lease: local.lease };
    }
    return admitByRedis(payer, kind, units, points, held);
  };
}

/** The kind of slot that a call's operations take, whatever form of response is asked for. */
export function slotOf({ type }: Pick<Operations, 'type'>): AdmissionKind {
  return type === 'subscription' ? 'subscription' : 'call';
}

/** Until shares are returned, or reservations restored. */
function isPostponed({ outcome }: AdmissionDecision): boolean {
  return outcome === 'recalled' || outcome === 'restoring';
}

function isRefusal(outcome: AdmissionDecision['outcome']): outcome is RefusedLimit {
  return (
    outcome !== 'admitted' && outcome !== 'unprimed' && outcome !== 'recalled' && outcome !== 'restoring'
  );
}

function leaseOf(
  { payerId, limits }: PayerEntitlement,
  { kind, member, reservation: reserved }: Asked,
  leases: Pick<Leases, 'hold'>,
): Lease {
  const isCall = kind === 'call';
  const isLimited = (isCall ? limits.session_limit : limits.subscription_limit) !== null;
  const slot = isLimited
    ? leases.hold({ key: leasesKey(isCall ? 'calls' : 'subscriptions', payerId), member })
    : NO_LEASE;
  if (reserved === null) return slot;
  return together([slot, leases.hold({ key: reservationsKey(payerId), member: reserved.member })]);
}

function unavailable(reason: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(reason) });
}
