import { createEventCache } from '@tollgate/cache/event-cache';
import type { CacheRest, EventCache } from '@tollgate/cache/event-cache';
import { createGroupedStore } from '@tollgate/cache/grouped-store';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Logger } from '@tollgate/log';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { Problem } from '@tollgate/http/problem';
import { createAccountOutage } from './account-outage.ts';
import type { AccountOutage } from './account-outage.ts';
import type { AgedEntitlement, ReadKeptAnswer } from './kept-answers.ts';
import { knownEntitlement } from './known-entitlement.ts';
import type { KnownEntitlement, StrictPoints } from './known-entitlement.ts';
import type { PayerEntitlement } from '../../ledger/principal.ts';

/** Whose call it is. */
type EntitledCaller = Pick<ActiveToken, 'account_id' | 'application_id'>;

/** A promise only if account has to be asked. */
export type Entitle = (
  caller: EntitledCaller,
  requestId: string,
) => PayerEntitlement | Promise<PayerEntitlement>;

export type EntitleOptions = {
  account: Pick<PrivateApi, 'get'>;
  /** Asked before account is; if it fails, account decides. */
  readKeptAnswer: ReadKeptAnswer;
  /** How long after account has read Postgres an answer is used, at most; never past its `valid_until`. */
  cacheTtlMs: number;
  /** How long an answer that lets calls pass is used while account is unavailable, since it was asked last. */
  staleIfErrorMs: number;
  strictPoints: StrictPoints;
  readsCalls: boolean;
  cacheMaxEntries: number;
  onLookup?: (outcome: 'hit' | 'joined' | 'miss' | 'stale') => void;
  /** Who answered a look-up that wasn't in the cache. */
  onLoaded?: (source: 'redis' | 'account') => void;
  logger: Pick<Logger, 'warn' | 'info'>;
};

/** How long a call waits for account if there is a stale answer to serve instead. */
const REFRESH_TIMEOUT_MS = 250;

type Entitlements = {
  entitle: Entitle;
  /** Drops an account's entitlement and those that it pays for. */
  dropAccount: (accountId: number) => void;
  /** Changes may have been missed: drops the cache. */
  dropAll: () => void;
  /** Until then (performance.now()) no change is missed. Starts in the past: unsubscribed, account is always asked. */
  trustCacheUntil: (timeMs: number) => void;
  rest: CacheRest;
  isTrusted: () => boolean;
};

/**
 * Entitles a call: who pays, and whether the payer's billing period lets calls pass. An event cache
 * (docs/design/revocation.md) in front of account; while account is unavailable, entitlements are served stale
 * (docs/design/entitlement.md).
 * @throws {Problem} (entitle) no_active_billing_period if the period is over (and its grace window) or there never was
 * one; account_blocked; service_unavailable if account is unavailable and nothing may be served stale
 */
export function createEntitle(options: EntitleOptions): Entitlements {
  const { onLookup } = options;
  const outage = createAccountOutage(options.logger);
  const cache = createEntitlementCache(options, outage);

  function serveStale(known: KnownEntitlement, caller: EntitledCaller): PayerEntitlement {
    onLookup?.('stale');
    outage.servedStale();
    return payerOrThrow(known, caller);
  }

  async function refresh(caller: EntitledCaller, requestId: string): Promise<PayerEntitlement> {
    const { account_id: accountId } = caller;
    const loading = cache.load(accountId, requestId);
    const loaded = await inTime(loading, () => {
      outage.failed(new Error(`no answer within ${String(REFRESH_TIMEOUT_MS)} ms`));
    });
    if (loaded !== undefined) return payerOrThrow(loaded, caller);
    // A change, or the loss of trust, may have come meanwhile.
    const known = cache.get(accountId);
    return known === undefined ? payerOrThrow(await loading, caller) : serveStale(known, caller);
  }

  const entitle: Entitle = (caller, requestId) => {
    const { account_id: accountId } = caller;
    const nowMs = performance.now();
    const known = cache.get(accountId, nowMs);
    if (known === undefined) {
      const rested = cache.rest.end();
      return rested === undefined
        ? cache.load(accountId, requestId).then((loaded) => payerOrThrow(loaded, caller))
        : rested.then(() => entitle(caller, requestId));
    }
    if (nowMs < known.freshUntilMs) {
      onLookup?.('hit');
      return payerOrThrow(known, caller);
    }
    if (!outage.isOn()) return refresh(caller, requestId);
    if (outage.takeProbe(nowMs)) cache.load(accountId, requestId).catch(() => undefined);
    return serveStale(known, caller);
  };

  return {
    entitle,
    dropAccount: cache.invalidate,
    dropAll: cache.clear,
    trustCacheUntil: cache.trustUntil,
    rest: cache.rest,
    isTrusted: cache.isTrusted,
  };
}

/** By account, in the payer's group; an event is the id of an account that has changed. */
function createEntitlementCache(
  options: EntitleOptions,
  outage: Pick<AccountOutage, 'answered' | 'failed'>,
): EventCache<number, string, KnownEntitlement, number> {
  const store = createGroupedStore<number, number, KnownEntitlement>(options.cacheMaxEntries);

  async function askAccount(accountId: number, requestId: string): Promise<AgedEntitlement> {
    const path = `/private/entitlements/${String(accountId)}`;
    try {
      const answer = await options.account.get(path, entitlementSchema, requestId);
      outage.answered();
      return { entitlement: answer ?? deletedAccount(accountId), ageMs: 0 };
    } catch (error) {
      outage.failed(error);
      throw error;
    }
  }

  async function load(accountId: number, requestId: string): Promise<AgedEntitlement> {
    const kept = await options.readKeptAnswer(accountId).catch(() => undefined);
    const isFresh = kept !== undefined && kept.ageMs < options.cacheTtlMs;
    options.onLoaded?.(isFresh ? 'redis' : 'account');
    return isFresh ? kept : askAccount(accountId, requestId);
  }

  return createEventCache({
    store,
    load,
    keep: ({ entitlement, ageMs }, { key: accountId, startedMs }) => {
      const known = knownEntitlement(entitlement, startedMs - ageMs, options);
      store.set(accountId, entitlement.payer_id, known, known.staleUntilMs);
      return known;
    },
    apply: (changedId) => {
      store.drop(changedId);
      store.dropGroup(changedId);
    },
    isStale: ({ entitlement: { account_id, payer_id } }, changedId) =>
      account_id === changedId || payer_id === changedId,
    onLookup: options.onLookup,
  });
}

/** The value within REFRESH_TIMEOUT_MS; undefined if loading it fails or takes longer. */
async function inTime<T>(loading: Promise<T>, onTimeout: () => void): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      onTimeout();
      resolve(undefined);
    }, REFRESH_TIMEOUT_MS);
  });
  try {
    return await Promise.race([loading.catch(() => undefined), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function payerOrThrow(
  { payer, payerByApplication, entitlement }: KnownEntitlement,
  { application_id }: EntitledCaller,
): PayerEntitlement {
  if (payer !== null) return payerByApplication.get(application_id) ?? payer;
  const { status } = entitlement;
  switch (status) {
    case 'active':
    case 'grace':
      throw new Problem('service_unavailable', {
        cause: new Error(`a ${status} entitlement has no period`),
      });
    case 'blocked':
      throw new Problem('account_blocked', {
        headers: { 'x-billing-status': 'blocked' },
        ...paymentDetail(entitlement),
      });
    case 'expired':
      throw new Problem('no_active_billing_period', { headers: { 'x-billing-status': 'expired' } });
    case 'none':
      throw new Problem('no_active_billing_period');
  }
}

/** Only the payer can pay, so a member gets no address that would be of no use to them. */
function paymentDetail({ pay_url, account_id, payer_id }: Entitlement): { detail?: string } {
  if (pay_url === undefined) return {};
  if (account_id === payer_id) return { detail: `A payment is due. Pay at ${pay_url}` };
  return { detail: 'A payment of your team is due. Only the manager of your team can pay it.' };
}

/** Its token may still live: like an account that never had a period. */
function deletedAccount(accountId: number): Entitlement {
  return {
    account_id: accountId,
    payer_id: accountId,
    status: 'none',
    valid_until: null,
    valid_for_ms: null,
    billing_period: null,
  };
}
