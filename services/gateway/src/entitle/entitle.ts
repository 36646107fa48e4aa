import { entitlementSchema } from '@tollgate/contracts/entitlement';
import type { Entitlement, Limits } from '@tollgate/contracts/entitlement';
import type { PrivateApi } from '@tollgate/private-api/client';
import { Problem } from '@tollgate/problem';
import { createEntitlementCache } from './entitlement-cache.ts';

/** Whose billing period a call is held to and charged to. */
export type Charge = {
  payerId: number;
  periodId: number;
  billingStatus: 'active' | 'grace';
  /** The period's last second, ISO 8601. */
  endedAt: string;
  /** Of that period, so that a team shares them. Null isn't enforced, 0 allows none. */
  limits: Limits;
};

/** A promise only where account has to be asked. */
export type Entitle = (accountId: number, requestId: string) => Charge | Promise<Charge>;

export type EntitleOptions = {
  /** account's private API. */
  account: Pick<PrivateApi, 'get'>;
  /** How long an answer is kept, at most; never past its `valid_until`. */
  cacheTtlMs: number;
  /** Bound of the cache, in accounts. */
  cacheMaxEntries: number;
  /** Told of each answer's origin, for metrics. */
  onLookup?: (outcome: 'hit' | 'joined' | 'miss') => void;
};

/** A refusal is kept for less: who has just paid must not wait for the cache. */
const REFUSAL_TTL_MS = 1_000;

type Entitlements = {
  entitle: Entitle;
  /** Forgets an account's entitlement and those that it pays for, those being asked about included. */
  dropAccount: (accountId: number) => void;
  dropAll: () => void;
  /**
   * Until then (performance.now()) all changes are known, and the cache may answer. It starts in the past: without
   * somebody who follows the events (open-entitle.ts) account is asked each time.
   */
  trustCacheUntil: (timeMs: number) => void;
};

type Question = {
  /** Of which accounts a change was told since account was asked. */
  changed: Set<number>;
  allChanged: boolean;
  answer: Promise<Entitlement> | undefined;
};

/** Between an answer and its use the entitlement can change, and then account is asked again; not for ever. */
const ATTEMPTS = 3;

/**
 * Part 2 of a data call: who pays, and whether the payer's billing period lets calls pass. Bounded cache,
 * single flight: while account is being asked about one account, its other calls wait for that answer. An
 * answer that a change has overtaken isn't kept.
 * @throws {Problem} (entitle) no_active_billing_period where the period is over (and its grace window) or there
 * never was one; account_blocked; service_unavailable where account can't be asked.
 */
export function createEntitle({
  account,
  cacheTtlMs,
  cacheMaxEntries,
  onLookup,
}: EntitleOptions): Entitlements {
  const cache = createEntitlementCache(cacheMaxEntries);
  const inFlight = new Map<number, Question>();
  let trustedUntilMs = 0;

  async function ask(accountId: number, question: Question, requestId: string): Promise<Entitlement> {
    const path = `/private/entitlements/${String(accountId)}`;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      question.changed.clear();
      question.allChanged = false;
      const answer = (await account.get(path, entitlementSchema, requestId)) ?? noAccount(accountId);
      if (isOvertaken(question, answer)) continue;
      const ttlMs = ttlOf(answer, cacheTtlMs);
      // A ttl of 0 would mean "for ever" to the cache.
      if (ttlMs > 0) cache.set(accountId, answer, ttlMs);
      return answer;
    }
    throw new Problem('service_unavailable', { cause: new Error('changes came during every answer') });
  }

  function askOnce(accountId: number, requestId: string): Promise<Entitlement> {
    const pending = inFlight.get(accountId)?.answer;
    onLookup?.(pending === undefined ? 'miss' : 'joined');
    if (pending !== undefined) return pending;
    const question: Question = { changed: new Set(), allChanged: false, answer: undefined };
    inFlight.set(accountId, question);
    question.answer = ask(accountId, question, requestId).finally(() => inFlight.delete(accountId));
    return question.answer;
  }

  return {
    entitle: (accountId, requestId) => {
      const cached = performance.now() < trustedUntilMs ? cache.get(accountId) : undefined;
      if (cached === undefined) return askOnce(accountId, requestId).then(chargeOf);
      onLookup?.('hit');
      return chargeOf(cached);
    },
    dropAccount: (accountId) => {
      cache.drop(accountId);
      for (const { changed } of inFlight.values()) changed.add(accountId);
    },
    dropAll: () => {
      cache.clear();
      for (const question of inFlight.values()) question.allChanged = true;
    },
    trustCacheUntil: (timeMs) => {
      trustedUntilMs = timeMs;
    },
  };
}

function isOvertaken({ changed, allChanged }: Question, { account_id, payer_id }: Entitlement): boolean {
  return allChanged || changed.has(account_id) || changed.has(payer_id);
}

function ttlOf(answer: Entitlement, cacheTtlMs: number): number {
  const untilMs = answer.valid_until === null ? Infinity : Date.parse(answer.valid_until) - Date.now();
  return Math.min(passes(answer) ? cacheTtlMs : Math.min(cacheTtlMs, REFUSAL_TTL_MS), untilMs);
}

/** A deleted account whose token still lives: like one that never had a period. */
function noAccount(accountId: number): Entitlement {
  return {
    account_id: accountId,
    payer_id: accountId,
    status: 'none',
    valid_until: null,
    billing_period: null,
  };
}

function passes({ status }: Entitlement): boolean {
  return status === 'active' || status === 'grace';
}

/** The charge of an answer is one object while the answer is kept: whoever gathers calls knows it again. */
const charges = new WeakMap<Entitlement, Charge>();

function chargeOf(entitlement: Entitlement): Charge {
  const known = charges.get(entitlement);
  if (known !== undefined) return known;
  const charge = toCharge(entitlement);
  charges.set(entitlement, charge);
  return charge;
}

function toCharge({ status, payer_id, billing_period }: Entitlement): Charge {
  switch (status) {
    case 'active':
    case 'grace':
      if (billing_period === null) {
        throw new Problem('service_unavailable', {
          cause: new Error(`a ${status} entitlement has no period`),
        });
      }
      return {
        payerId: payer_id,
        periodId: billing_period.period_id,
        billingStatus: status,
        endedAt: billing_period.ended_at,
        limits: billing_period.limits,
      };
    case 'blocked':
      throw new Problem('account_blocked', { headers: { 'x-billing-status': 'blocked' } });
    case 'expired':
      throw new Problem('no_active_billing_period', { headers: { 'x-billing-status': 'expired' } });
    case 'none':
      throw new Problem('no_active_billing_period');
  }
}
