import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../../ledger/principal.ts';
import type { PrimePayer } from '../../ledger/prime.ts';
import { leasesKey } from '../../ledger/keys.ts';
import type { AdmissionKind, AdmissionDecision, RefusedLimit } from '../../ledger/admit-script.ts';
import { NO_LEASE } from '../../ledger/leases.ts';
import type { Lease, Leases } from '../../ledger/leases.ts';
import { refused } from './refused.ts';
import { rateLimitStateOf } from './rate-limit-state.ts';
import type { RateLimitState } from './rate-limit-state.ts';
import type { DecideAdmission } from './batch-admissions.ts';
import type { Shares } from './shares/shares.ts';
import type { Operations } from '../../operation-reader/operation-reader.ts';

type Admitted = { rateLimitState: RateLimitState; lease: Lease };

/** `units` of the rate, above 0: all or none. A promise unless a share decides. */
export type Admit = (
  payer: PayerEntitlement,
  kind: AdmissionKind,
  units: number,
) => Admitted | Promise<Admitted>;

export type AdmissionOptions = {
  decide: DecideAdmission;
  primePayer: PrimePayer;
  leases: Pick<Leases, 'newMember' | 'hold'>;
  canRecord: (payerId: number) => boolean;
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

/**
 * Admits a call: one script checks the plan's limits, exactly over all gateways (docs/design/admission.md), unless this
 * one holds a share of them (docs/design/admission.md). Shares don't contain budgets, so Redis decides where there are any.
 * @throws {Problem} (the promise) points_limit_exceeded, budget_exceeded, traffic_limit_exceeded, time_limit_exceeded;
 * rate_limit_exceeded; session_limit_exceeded or subscription_limit_exceeded; service_unavailable if Redis is away or
 * behind, usage couldn't be recorded, or account is needed and away.
 */
export function createAdmission(options: AdmissionOptions): Admit {
  const { decide, primePayer, leases, canRecord, shares, onAdmission, onDecided } = options;
  const { recallTimeoutMs = RECALL_TIMEOUT_MS } = options;

  async function decisionFor(
    payer: PayerEntitlement,
    kind: AdmissionKind,
    member: string,
    units: number,
  ): Promise<AdmissionDecision> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const decision = await decide(payer, kind, member, units);
      if (decision.outcome === 'recalled') return afterRecall(payer, kind, member, units);
      if (decision.outcome !== 'unprimed') return decision;
      await primePayer(payer);
    }
    throw unavailable('the live counters were lost repeatedly');
  }

  /** Other gateways return what they don't use; then it is known whether the call exceeds a limit. */
  async function afterRecall(...asked: Parameters<DecideAdmission>): Promise<AdmissionDecision> {
    const untilMs = performance.now() + recallTimeoutMs;
    for (let pollMs = RECALL_POLL_MIN_MS; performance.now() < untilMs; pollMs *= 2) {
      await delay(Math.min(pollMs, RECALL_POLL_MAX_MS));
      const decision = await decide(...asked);
      if (decision.outcome === 'recalled') continue;
      onDecided?.('recall');
      if (decision.outcome === 'unprimed') break;
      return decision;
    }
    throw unavailable('shares of the limits were not returned');
  }

  async function decisionOfRedis(
    payer: PayerEntitlement,
    kind: AdmissionKind,
    member: string,
    units: number,
  ): Promise<AdmissionDecision> {
    const decision = await decisionFor(payer, kind, member, units).catch((cause: unknown) => {
      onAdmission?.('unavailable');
      throw cause instanceof Problem ? cause : new Problem('service_unavailable', { cause });
    });
    return kind === 'call' && shares !== undefined ? shares.onDecision(payer, decision, units) : decision;
  }

  async function admitByRedis(
    payer: PayerEntitlement,
    kind: AdmissionKind,
    units: number,
  ): Promise<Admitted> {
    const member = leases.newMember();
    const decision = await decisionOfRedis(payer, kind, member, units);
    onDecided?.('redis');
    onAdmission?.(decision.outcome);
    const rateLimitState = rateLimitStateOf(payer.limits, decision);
    const { outcome } = decision;
    if (isRefusal(outcome)) {
      throw refused(outcome, payer, { kind, units }, decision, rateLimitState);
    }
    return { rateLimitState, lease: leaseOf(payer, kind, member, leases) };
  }

  return (payer, kind, units) => {
    if (!canRecord(payer.payerId)) {
      onAdmission?.('unavailable');
      return Promise.reject(unavailable('usage cannot be recorded at the moment'));
    }
    const local = kind === 'call' && payer.budgets === null ? shares?.admit(payer, units) : undefined;
    if (local) {
      onDecided?.('share');
      onAdmission?.('admitted');
      return { rateLimitState: rateLimitStateOf(payer.limits, local.decision), lease: local.lease };
    }
    return admitByRedis(payer, kind, units);
  };
}

/** The kind of slot that a call's operations take, whatever form of response is asked for. */
export function slotOf({ type }: Pick<Operations, 'type'>): AdmissionKind {
  return type === 'subscription' ? 'subscription' : 'call';
}

function isRefusal(outcome: AdmissionDecision['outcome']): outcome is RefusedLimit {
  return outcome !== 'admitted' && outcome !== 'unprimed' && outcome !== 'recalled';
}

function leaseOf(
  { payerId, limits }: PayerEntitlement,
  kind: AdmissionKind,
  member: string,
  leases: Pick<Leases, 'hold'>,
): Lease {
  const isCall = kind === 'call';
  if ((isCall ? limits.session_limit : limits.subscription_limit) === null) return NO_LEASE;
  return leases.hold({ key: leasesKey(isCall ? 'calls' : 'subscriptions', payerId), member });
}

function unavailable(reason: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(reason) });
}
