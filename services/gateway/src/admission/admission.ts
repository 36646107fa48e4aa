import { Problem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../entitle/entitle.ts';
import type { Prime } from '../metering/live-usage/prime.ts';
import { leasesKey } from '../metering/shard-keys.ts';
import type { AdmissionKind, AdmissionDecision } from './admit-script.ts';
import { NO_LEASE } from './leases.ts';
import type { Lease, Leases } from './leases.ts';
import { refused } from './refused.ts';
import { rateLimitStateOf } from './rate-limit-state.ts';
import type { RateLimitState } from './rate-limit-state.ts';
import type { DecideAdmission } from './batch-admissions.ts';

type Admitted = { rateLimitState: RateLimitState; lease: Lease };

export type Admit = (payer: PayerEntitlement, kind: AdmissionKind) => Promise<Admitted>;

export type AdmissionOptions = {
  decide: DecideAdmission;
  prime: Prime;
  leases: Pick<Leases, 'newMember' | 'hold'>;
  canRecord: (payerId: number) => boolean;
  onAdmission?: (outcome: AdmissionDecision['outcome'] | 'unavailable') => void;
};

/** Live counters can be lost again between priming and use. */
const ATTEMPTS = 3;

/**
 * Step 3 of a data call: one script checks the plan's limits, exactly over all gateways (ADR 0020).
 * @throws {Problem} (the promise) points_limit_exceeded, traffic_limit_exceeded, time_limit_exceeded;
 * rate_limit_exceeded; session_limit_exceeded or subscription_limit_exceeded; service_unavailable if Redis is away or
 * behind, usage couldn't be recorded, or account is needed and away.
 */
export function createAdmission(options: AdmissionOptions): Admit {
  const { decide, prime, leases, canRecord, onAdmission } = options;

  async function decisionFor(
    payer: PayerEntitlement,
    kind: AdmissionKind,
    member: string,
  ): Promise<AdmissionDecision> {
    if (!canRecord(payer.payerId)) throw unavailable('usage cannot be recorded at the moment');
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const decision = await decide(payer, kind, member);
      if (decision.outcome !== 'unprimed') return decision;
      await prime(payer.periodId, payer.payerId);
    }
    throw unavailable('the live counters were lost repeatedly');
  }

  return async (payer, kind) => {
    const member = leases.newMember();
    const decision = await decisionFor(payer, kind, member).catch((cause: unknown) => {
      onAdmission?.('unavailable');
      throw cause instanceof Problem ? cause : new Problem('service_unavailable', { cause });
    });
    onAdmission?.(decision.outcome);
    const rateLimitState = rateLimitStateOf(payer.limits, decision);
    const { outcome } = decision;
    if (outcome !== 'admitted' && outcome !== 'unprimed') {
      throw refused(outcome, payer, kind, decision, rateLimitState);
    }
    return { rateLimitState, lease: leaseOf(payer, kind, member, leases) };
  };
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
