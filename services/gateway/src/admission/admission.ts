import { Problem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../entitle/entitle.ts';
import type { Prime } from '../metering/live-usage/prime.ts';
import { leasesKey } from '../metering/shard-keys.ts';
import type { AdmissionKind, AdmitAnswer } from './admit-script.ts';
import { NO_LEASE } from './leases.ts';
import type { Lease, Leases } from './leases.ts';
import { refused } from './refused.ts';
import { rateLimitStateOf } from './rate-limit-state.ts';
import type { RateLimitState } from './rate-limit-state.ts';
import type { AskAdmission } from './turn-admissions.ts';

type Admitted = { rateLimitState: RateLimitState; lease: Lease };

export type Admit = (payer: PayerEntitlement, kind: AdmissionKind) => Promise<Admitted>;

export type AdmissionOptions = {
  ask: AskAdmission;
  prime: Prime;
  leases: Pick<Leases, 'newMember' | 'hold'>;
  /** Whether the usage of a further call of this payer would be recorded soon. */
  canRecord: (payerId: number) => boolean;
  /** Told of each admission's end, for metrics. */
  onAdmission?: (outcome: AdmitAnswer['outcome'] | 'unavailable') => void;
};

/** Live counters can be lost again between their priming and their use; not for ever. */
const ATTEMPTS = 3;

/**
 * Part 3 of a data call: may it pass now? One script on the payer's shard holds the call to the plan, exactly
 * over all gateways (ADR 0020). A call that couldn't be counted isn't let through.
 * @throws {Problem} (the promise) points_limit_exceeded, traffic_limit_exceeded, time_limit_exceeded;
 * rate_limit_exceeded; session_limit_exceeded or subscription_limit_exceeded; service_unavailable where Redis
 * is away, finished calls wait for it already, or account is needed and away.
 */
export function createAdmission(options: AdmissionOptions): Admit {
  const { ask, prime, leases, canRecord, onAdmission } = options;

  async function answerFor(
    payer: PayerEntitlement,
    kind: AdmissionKind,
    member: string,
  ): Promise<AdmitAnswer> {
    if (!canRecord(payer.payerId)) throw unavailable('usage can not be recorded at the moment');
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const answer = await ask(payer, kind, member);
      if (answer.outcome !== 'unprimed') return answer;
      await prime(payer.periodId, payer.payerId);
    }
    throw unavailable('the live counters were lost again and again');
  }

  return async (payer, kind) => {
    const member = leases.newMember();
    const answer = await answerFor(payer, kind, member).catch((cause: unknown) => {
      onAdmission?.('unavailable');
      throw cause instanceof Problem ? cause : new Problem('service_unavailable', { cause });
    });
    onAdmission?.(answer.outcome);
    const rateLimitState = rateLimitStateOf(payer.limits, answer);
    const { outcome } = answer;
    if (outcome !== 'admitted' && outcome !== 'unprimed') {
      throw refused(outcome, payer, kind, answer, rateLimitState);
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
