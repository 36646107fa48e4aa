import { usageLiveKey, usageShard, usageVersionKey } from '@tollgate/contracts/usage-stream';
import { defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import type { PendingRefresh } from './refresh-outbox.ts';

/**
 * Brings a period's live counters to a version of its totals (ADR 0029), in one step:
 * - built from that version, or a newer one: they contain the change already;
 * - built from the one just before: what has been added is added to them, so nobody has to build them anew;
 * - anything else: they go, and the next call has them built from what Postgres says.
 * The version stays behind, so that a gateway which has read an older snapshot doesn't build them from that. Done
 * twice, or in another order, it leaves the same.
 *
 * What changes the counters comes first: Redis, out of memory, refuses a script's SET unless the script has written
 * before.
 */
const LUA = `
local live, told = KEYS[1], KEYS[2]
local previous, version = tonumber(ARGV[1]), tonumber(ARGV[2])
local built = tonumber(redis.call('HGET', live, 'usage_version') or '-1')
local done = 0
if built < version and redis.call('EXISTS', live) == 1 then
  if built == previous and #ARGV > 3 then
    redis.call('HSET', live, 'usage_version', ARGV[2])
    for index, name in ipairs({ 'points', 'requests', 'time_ms', 'traffic_bytes' }) do
      redis.call('HINCRBY', live, name, ARGV[3 + index])
    end
    done = 1
  else
    redis.call('DEL', live)
    done = 2
  end
end
if tonumber(redis.call('GET', told) or '-1') < version then redis.call('SET', told, ARGV[2], 'EX', ARGV[3]) end
return done
`;

/** How long an older snapshot is recognised: far longer than any can be on its way to a gateway's script. */
const VERSION_TTL_SEC = 600;

const OUTCOMES = ['unchanged', 'added', 'removed'] as const;

type RefreshOutcome = (typeof OUTCOMES)[number];

/** Tells Redis of one change, and what became of the live counters. */
export type RefreshLive = (refresh: PendingRefresh) => Promise<RefreshOutcome>;

/** Defines the script on a connection. Both keys lie in the payer's shard. */
export function createRefreshLive(redis: ScriptableRedis): RefreshLive {
  const script = defineScript(redis, LUA);
  return async ({ period_id, payer_id, previous_version, usage_version, ...added }) => {
    const { points, requests, time_ms, traffic_bytes } = added;
    const counters = [points, requests, time_ms, traffic_bytes].filter((counter) => counter !== null);
    const shard = usageShard(payer_id);
    const done = await script(
      [usageLiveKey(shard, period_id), usageVersionKey(shard, period_id)],
      [previous_version, usage_version, VERSION_TTL_SEC, ...counters],
    );
    const outcome = OUTCOMES[Number(done)];
    if (outcome === undefined) throw new Error('the refresh script gave an unknown answer');
    return outcome;
  };
}
