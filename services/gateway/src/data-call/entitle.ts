import { LRUCache } from 'lru-cache';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import type { PrivateApi } from '@tollgate/private-api/client';
import { Problem } from '@tollgate/problem';

/** Whose billing period a call is held to and charged to. */
export type Charge = { payerId: number; periodId: number; billingStatus: 'active' | 'grace' };

export type Entitle = (accountId: number, requestId: string) => Promise<Charge>;

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

/**
 * Part 2 of a data call: who pays, and whether the payer's billing period lets calls pass. Bounded cache,
 * single flight: while account is being asked about one account, its other calls wait for that answer.
 * @throws {Problem} no_active_billing_period where the period is over (and its grace window) or there never
 * was one; account_blocked; service_unavailable where account can't be asked.
 */
export function createEntitle({ account, cacheTtlMs, cacheMaxEntries, onLookup }: EntitleOptions): Entitle {
  const cache = new LRUCache<number, Entitlement>({ max: cacheMaxEntries });
  const inFlight = new Map<number, Promise<Entitlement>>();

  async function ask(accountId: number, requestId: string): Promise<Entitlement> {
    const answer =
      (await account.get(`/private/entitlements/${String(accountId)}`, entitlementSchema, requestId)) ??
      noAccount(accountId);
    const untilMs = answer.valid_until === null ? Infinity : Date.parse(answer.valid_until) - Date.now();
    const ttl = Math.min(passes(answer) ? cacheTtlMs : Math.min(cacheTtlMs, REFUSAL_TTL_MS), untilMs);
    // A ttl of 0 would mean "for ever" to the cache.
    if (ttl > 0) cache.set(accountId, answer, { ttl });
    return answer;
  }

  return async (accountId, requestId) => {
    const cached = cache.get(accountId);
    if (cached !== undefined) {
      onLookup?.('hit');
      return toCharge(cached);
    }
    const pending = inFlight.get(accountId);
    onLookup?.(pending === undefined ? 'miss' : 'joined');
    if (pending !== undefined) return toCharge(await pending);
    const asked = ask(accountId, requestId).finally(() => inFlight.delete(accountId));
    inFlight.set(accountId, asked);
    return toCharge(await asked);
  };
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

function toCharge({ status, payer_id, billing_period }: Entitlement): Charge {
  switch (status) {
    case 'active':
    case 'grace':
      if (billing_period === null) {
        throw new Problem('service_unavailable', {
          cause: new Error(`a ${status} entitlement has no period`),
        });
      }
      return { payerId: payer_id, periodId: billing_period.period_id, billingStatus: status };
    case 'blocked':
      throw new Problem('account_blocked', { headers: { 'x-billing-status': 'blocked' } });
    case 'expired':
      throw new Problem('no_active_billing_period', { headers: { 'x-billing-status': 'expired' } });
    case 'none':
      throw new Problem('no_active_billing_period');
  }
}
