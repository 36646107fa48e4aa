import type { Entitlement, Limits } from '@tollgate/contracts/entitlement';
import type { Logger } from '@tollgate/log';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { Problem } from '@tollgate/http/problem';
import { createAccountOutage } from './account-outage.ts';
import { createEntitlementCache } from './entitlement-cache.ts';
import type { KnownEntitlement } from './entitlement-cache.ts';
import { createQuestions } from './questions.ts';

/** Whose billing period a call is held to and charged to. */
export type PayerEntitlement = {
  payerId: number;
  periodId: number;
  billingStatus: 'active' | 'grace';
  /** The period's last second, ISO 8601. */
  endedAt: string;
  /** Of that period, so that a team shares them. Null isn't enforced, 0 allows none. */
  limits: Limits;
};

/** A promise only where account has to be asked. */
export type Entitle = (accountId: number, requestId: string) => PayerEntitlement | Promise<PayerEntitlement>;

export type EntitleOptions = {
  /** account's private API. */
  account: Pick<PrivateApi, 'get'>;
  /** How long an answer is used without a question, at most; never past its `valid_until`. */
  cacheTtlMs: number;
  /** How long an answer that lets calls pass is used where account can't be asked, since it was asked last. */
  staleIfErrorMs: number;
  /** Bound of the cache, in accounts. */
  cacheMaxEntries: number;
  /** Told of each answer's origin, for metrics. */
  onLookup?: (outcome: 'hit' | 'joined' | 'miss' | 'stale') => void;
  logger: Pick<Logger, 'warn' | 'info'>;
};

/**
 * Refusals are cached briefly so that a new payment takes effect at once, and never used where account can't be
 * asked: a caller takes them as final.
 */
const REFUSAL_TTL_MS = 1_000;

/** How long a call waits for account where there is a stale answer to serve instead. */
const REFRESH_WAIT_MS = 250;

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

/**
 * Part 2 of a data call: who pays, and whether the payer's billing period lets calls pass. Bounded cache,
 * single flight: while account is being asked about one account, its other calls wait for that answer. An
 * answer that a change has overtaken isn't kept. Where account can't be asked, the last answer is served
 * stale while Redis vouches that no change was published since (ADR 0005).
 * @throws {Problem} (entitle) no_active_billing_period where the period is over (and its grace window) or there
 * never was one; account_blocked; service_unavailable where account can't be asked and nothing may be served.
 */
export function createEntitle(options: EntitleOptions): Entitlements {
  const { account, cacheMaxEntries, onLookup } = options;
  const cache = createEntitlementCache(cacheMaxEntries);
  const outage = createAccountOutage(options.logger);
  let trustedUntilMs = 0;
  const questions = createQuestions({
    account,
    outage,
    onLookup,
    onAnswer: (accountId, answer, askedMs) => {
      cache.set(accountId, knownFrom(answer, askedMs, options));
    },
  });

  /** What may be used at this moment, fresh or not. */
  function knownNow(accountId: number, nowMs: number): KnownEntitlement | undefined {
    const known = nowMs < trustedUntilMs ? cache.get(accountId) : undefined;
    return known === undefined || nowMs >= known.staleUntilMs ? undefined : known;
  }

  function serveStale({ entitlement }: KnownEntitlement): PayerEntitlement {
    onLookup?.('stale');
    outage.servedStale();
    return payerEntitlementOf(entitlement);
  }

  /** Asks again, and serves what is known where no answer comes in time. */
  async function refresh(accountId: number, requestId: string): Promise<PayerEntitlement> {
    const asked = questions.ask(accountId, requestId);
    const answer = await inTime(asked, () => {
      outage.failed(new Error(`no answer within ${String(REFRESH_WAIT_MS)} ms`));
    });
    if (answer !== undefined) return payerEntitlementOf(answer);
    // A change, or the loss of trust, may have come meanwhile.
    const known = knownNow(accountId, performance.now());
    return known === undefined ? payerEntitlementOf(await asked) : serveStale(known);
  }

  return {
    entitle: (accountId, requestId) => {
      const nowMs = performance.now();
      const known = knownNow(accountId, nowMs);
      if (known === undefined) return questions.ask(accountId, requestId).then(payerEntitlementOf);
      if (nowMs < known.freshUntilMs) {
        onLookup?.('hit');
        return payerEntitlementOf(known.entitlement);
      }
      if (!outage.isOn()) return refresh(accountId, requestId);
      if (outage.takeProbe(nowMs)) questions.ask(accountId, requestId).catch(() => undefined);
      return serveStale(known);
    },
    dropAccount: (accountId) => {
      cache.drop(accountId);
      questions.overtake(accountId);
    },
    dropAll: () => {
      cache.clear();
      questions.overtake('all');
    },
    trustCacheUntil: (timeMs) => {
      trustedUntilMs = timeMs;
    },
  };
}

/** What a question is answered with in REFRESH_WAIT_MS; undefined where it fails or takes longer. */
async function inTime(asked: Promise<Entitlement>, onLate: () => void): Promise<Entitlement | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      onLate();
      resolve(undefined);
    }, REFRESH_WAIT_MS);
  });
  try {
    return await Promise.race([asked.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

function knownFrom(
  entitlement: Entitlement,
  askedMs: number,
  { cacheTtlMs, staleIfErrorMs }: Pick<EntitleOptions, 'cacheTtlMs' | 'staleIfErrorMs'>,
): KnownEntitlement {
  const freshForMs = passes(entitlement) ? cacheTtlMs : Math.min(cacheTtlMs, REFUSAL_TTL_MS);
  const staleForMs = passes(entitlement) ? Math.max(freshForMs, staleIfErrorMs) : freshForMs;
  const endMs = validUntilMs(entitlement, askedMs);
  return {
    entitlement,
    freshUntilMs: Math.min(askedMs + freshForMs, endMs),
    staleUntilMs: Math.min(askedMs + staleForMs, endMs),
  };
}

/** By performance.now(): counted from before the question, so that what the answer took doesn't prolong it. */
function validUntilMs({ valid_for_ms, valid_until }: Entitlement, askedMs: number): number {
  if (valid_until === null) return Infinity;
  if (typeof valid_for_ms === 'number') return askedMs + valid_for_ms;
  // An account of the version before says only when, by a clock that needn't be this one.
  return performance.now() + Date.parse(valid_until) - Date.now();
}

function passes({ status }: Entitlement): boolean {
  return status === 'active' || status === 'grace';
}

/** The payer entitlement of an answer is one object while the answer is kept: whoever gathers calls knows it again. */
const payerEntitlements = new WeakMap<Entitlement, PayerEntitlement>();

function payerEntitlementOf(entitlement: Entitlement): PayerEntitlement {
  const known = payerEntitlements.get(entitlement);
  if (known !== undefined) return known;
  const payer = toPayerEntitlement(entitlement);
  payerEntitlements.set(entitlement, payer);
  return payer;
}

function toPayerEntitlement({ status, payer_id, billing_period }: Entitlement): PayerEntitlement {
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
