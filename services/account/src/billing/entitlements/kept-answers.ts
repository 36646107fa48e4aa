import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import { ENTITLEMENT_SHAPE, entitlementKey } from '@tollgate/contracts/entitlement';
import type { Entitlement, KeptEntitlement } from '@tollgate/contracts/entitlement';
import { LUA_DATA_SET, LUA_NOT_TO_DISK, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { createOutcomes } from '@tollgate/server/tallies';

/** Answers that gateways read in Redis instead of asking account (docs/design/entitlement.md). */
export type KeptAnswers = {
  /** Call it before Postgres is read. The generation under which the answer may be kept. */
  begin: (accountId: number) => Promise<string>;
  /** Keeps an answer that lets calls pass, unless a change has come since `begin`. `askedMs` is of performance.now(). */
  keep: (answer: Entitlement, read: { generation: string; askedMs: number }) => Promise<void>;
  /** Call it after a change is committed, and before it is published. */
  forget: (accountIds: readonly number[]) => Promise<void>;
};

/**
 * The safety net if an event is missed, and what spreads the reads of a busy day: 500,000 accounts whose gateways call
 * all the time read Postgres 1,700 times a second.
 */
const KEPT_FOR_MS = 300_000;

/** Answers that were kept together, after Redis lost all, don't expire together. */
const SPREAD = 0.1;

/** Longer than a request to account takes. */
const GENERATION_TTL_MS = 60_000;

/** None of it is written to disk: after a restart the data set is another one. */
const BEGIN = `${LUA_NOT_TO_DISK}${LUA_DATA_SET}
local generation = redis.call('HGET', KEYS[1], 'generation')
if generation and string.sub(generation, 1, #data_set) == data_set then return generation end
redis.call('DEL', KEYS[1])
generation = data_set .. ':' .. ARGV[1]
redis.call('HSET', KEYS[1], 'generation', generation)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return generation
`;

const KEEP = `${LUA_NOT_TO_DISK}${LUA_DATA_SET}
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
if string.sub(ARGV[1], 1, #data_set) ~= data_set then return 0 end
redis.call('HSET', KEYS[1], 'answer', ARGV[2], 'kept_for_ms', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`;

const FORGET = `${LUA_NOT_TO_DISK}
return redis.call('DEL', KEYS[1])
`;

export function createKeptAnswers(redis: ScriptableRedis, registry: Registry): KeptAnswers {
  const begin = defineScript(redis, BEGIN);
  const keep = defineScript(redis, KEEP);
  const forget = defineScript(redis, FORGET);
  const onKept = createOutcomes(registry, {
    name: 'tollgate_entitlements_kept_total',
    help: 'Entitlements offered to Redis by outcome: kept, changed (a change came while Postgres was read)',
    outcomes: ['kept', 'changed'],
  });
  return {
    begin: async (accountId) =>
      String(await begin([entitlementKey(accountId)], [randomUUID(), GENERATION_TTL_MS])),
    keep: async (answer, { generation, askedMs }) => {
      const keptForMs = lifetimeMs(answer);
      const leftMs = Math.floor(keptForMs - (performance.now() - askedMs));
      if (leftMs <= 0) return;
      const text = JSON.stringify({ ...answer, shape: ENTITLEMENT_SHAPE } satisfies KeptEntitlement);
      const isKept = await keep([entitlementKey(answer.account_id)], [generation, text, keptForMs, leftMs]);
      onKept(isKept === 1 ? 'kept' : 'changed');
    },
    forget: async (accountIds) => {
      await Promise.all(accountIds.map((accountId) => forget([entitlementKey(accountId)], [])));
    },
  };
}

/** 0 for a refusal: gateways ask about those again within a second, so that a payment takes effect at once. */
function lifetimeMs({ status, valid_for_ms }: Entitlement): number {
  if (status !== 'active' && status !== 'grace') return 0;
  const spreadMs = Math.floor(KEPT_FOR_MS * (1 - Math.random() * SPREAD));
  return Math.min(spreadMs, valid_for_ms ?? spreadMs);
}
