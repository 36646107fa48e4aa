import { setTimeout as delay } from 'node:timers/promises';
import { createSingleFlight } from '@tollgate/cache/single-flight';
import { usageShard, usageSnapshotSchema } from '@tollgate/contracts/usage-stream';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { Problem } from '@tollgate/http/problem';
import { BUDGET_OWNERS } from './budgets.ts';
import type { CallerBudgets } from './budgets.ts';
import type { PrimeFrom } from './prime-script.ts';
import type { PayerEntitlement } from './principal.ts';

/** What live counters are to contain beside the period's usage. */
type PrimedFor = {
  /** The cuts at these instants of the payer's credits. */
  instantsMs?: readonly number[] | undefined;
  /** What these have spent. */
  budgets?: CallerBudgets | null;
};

/** Rebuilds a period's live counters on the data set that Redis serves now. Resolves with the payer's lane. */
export type Prime = (periodId: number, payerId: number, contents?: PrimedFor) => Promise<PrimedLane>;

/** `of`: how many there are; undefined if account doesn't say. */
type PrimedLane = { lane: number; of: number | undefined };

export type PrimeOptions = {
  /** account's private API. */
  account: Pick<PrivateApi, 'get'>;
  primeFrom: PrimeFrom;
  onPrime?: (outcome: 'primed' | 'stale' | 'fenced' | 'failed') => void;
  lastOfLane: LastOfLane;
};

/** Of each lane, the period that was primed last, for whichever reason. */
export type LastOfLane = Map<number, { period_id: number; payer_id: number }>;

/** Primes all periods on which a payer's limits depend. */
export type PrimePayer = (
  payer: Pick<PayerEntitlement, 'payerId' | 'periodId' | 'credits' | 'budgets'>,
) => Promise<unknown>;

export function createPrimePayer(prime: Prime): PrimePayer {
  return ({ payerId, periodId, credits, budgets }) => {
    const instantsMs = credits?.instantsMs;
    const open = credits?.openPeriodIds.map((id) => prime(id, payerId, { instantsMs })) ?? [];
    return Promise.all([prime(periodId, payerId, { instantsMs, budgets }), ...open]);
  };
}

/**
 * Primes the lane of some events by any period of it, since they share the stream. Resolves with how many lanes there
 * are, if account says so: some of the payers may have moved.
 */
export type PrimeLane = (
  lane: number,
  events: readonly Pick<UsageEvent, 'period_id' | 'payer_id'>[],
) => Promise<number | undefined>;

/** account trims behind what it has committed, so a newer snapshot is there at once. */
const ATTEMPTS = 5;
const STALE_DELAY_MS = 20;

/**
 * For a period that is new to Redis or lost by it: one usage snapshot for all waiting calls.
 * @throws {Problem} (its promise) service_unavailable if account or Redis is unavailable
 */
export function createPrime({ account, primeFrom, onPrime, lastOfLane }: PrimeOptions): Prime {
  const singleFlight = createSingleFlight<string, Awaited<ReturnType<Prime>>>();

  async function prime(
    periodId: number,
    payerId: number,
    { instantsMs = [], budgets = null }: PrimedFor,
  ): ReturnType<Prime> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const snapshot = await account.get(snapshotPath(periodId, budgets), usageSnapshotSchema);
      if (snapshot === null) throw unavailable(`account does not know billing period ${String(periodId)}`);
      // Counters in another payer's shard would never be found.
      if (snapshot.payer_id !== payerId) throw unavailable('a billing period has another payer');
      const outcome = await primeFrom(snapshot, instantsMs, budgets);
      onPrime?.(typeof outcome === 'number' ? 'fenced' : outcome);
      if (outcome === 'primed') {
        const lane = snapshot.usage_lane ?? usageShard(payerId);
        lastOfLane.set(lane, { period_id: periodId, payer_id: payerId });
        return { lane, of: snapshot.usage_lanes };
      }
      await delay(typeof outcome === 'number' ? outcome : STALE_DELAY_MS);
    }
    throw unavailable('every snapshot was older than the stream');
  }

  return (periodId, payerId, contents = {}) =>
    singleFlight(`${snapshotPath(periodId, contents.budgets)} ${contents.instantsMs?.join(' ') ?? ''}`, () =>
      prime(periodId, payerId, contents).catch((cause: unknown) => {
        onPrime?.('failed');
        throw cause instanceof Problem ? cause : new Problem('service_unavailable', { cause });
      }),
    );
}

function snapshotPath(periodId: number, budgets: CallerBudgets | null = null): string {
  const owners = budgets?.all.map(({ kind, id }) => `${BUDGET_OWNERS[kind]}=${String(id)}`) ?? [];
  return `/private/usage-snapshots/${String(periodId)}${owners.length === 0 ? '' : `?${owners.join('&')}`}`;
}

/** A period unknown to account (Postgres was restored) must not hold back all other usage, so others are tried. */
export function createPrimeLane(prime: Prime, lastOfLane: LastOfLane): PrimeLane {
  return async (lane, events) => {
    const last = lastOfLane.get(lane);
    const candidates = new Map(
      [...events, ...(last === undefined ? [] : [last])].map((one) => [one.period_id, one]),
    );
    let failure: unknown;
    for (const { period_id, payer_id } of candidates.values()) {
      try {
        const primed = await prime(period_id, payer_id);
        return primed.of;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };
}

function unavailable(reason: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(reason) });
}
