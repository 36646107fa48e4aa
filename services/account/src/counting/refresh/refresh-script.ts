import {
  LIVE_COUNTERS,
  LUA_FORGET_BUDGETS,
  SHARE_CHANNEL,
  usageLiveKey,
  usageShard,
  usageVersionKey,
} from '@tollgate/contracts/usage-stream';
import { defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import type { PendingRefresh } from './refresh-outbox.ts';

/**
 * Brings live counters to a version of the totals (docs/design/counting.md). Counters of that version or a newer one
 * contain the change; to those of the version just before it is added; all others are deleted, and the next call
 * rebuilds them. The version is kept, so that a gateway with an older snapshot cannot build from that. Repetition and
 * reordering change nothing. If an instant of the payer's credits has passed and its cut isn't fixed yet, counters are
 * deleted, too, so that the change can't become part of the cut. What is known of budgets is removed, because the change
 * may concern any of them. Gateways that admit calls by shares are told (docs/design/admission.md).
 *
 * Changes of the counters come first: a Redis that is out of memory refuses a SET unless the script has written
 * before.
 */
const LUA = `${LUA_FORGET_BUDGETS}
local live, told = KEYS[1], KEYS[2]
local previous, version = tonumber(ARGV[1]), tonumber(ARGV[2])
local built, before, shares, instants, budgets =
  unpack(redis.call('HMGET', live, 'usage_version', 'counters', 'shares', 'instants', 'budgets'))
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local is_cut_due = instants and tonumber(string.match(instants, '^%d+')) <= now_ms
local done = 0
if built and tonumber(built) < version then
  if tonumber(built) == previous and #ARGV > 4 and not is_cut_due then
    local points, requests, time_ms, traffic_bytes = struct.unpack('${LIVE_COUNTERS}', before)
    points, requests, time_ms = points + ARGV[5], requests + ARGV[6], time_ms + ARGV[7]
    local counters = struct.pack('${LIVE_COUNTERS}', points, requests, time_ms, traffic_bytes + ARGV[8])
    redis.call('HSET', live, 'usage_version', ARGV[2], 'counters', counters)
    if budgets then forget_budgets(live) end
    done = 1
  else
    redis.call('DEL', live)
    done = 2
  end
  if shares then redis.call('PUBLISH', '${SHARE_CHANNEL}', 'refresh ' .. ARGV[4]) end
end
if tonumber(redis.call('GET', told) or '-1') < version then redis.call('SET', told, ARGV[2], 'EX', ARGV[3]) end
return done
`;

/** Far longer than a snapshot takes from account to a gateway's script. */
const VERSION_TTL_SEC = 600;

const OUTCOMES = ['unchanged', 'added', 'removed'] as const;

type RefreshOutcome = (typeof OUTCOMES)[number];

export type RefreshLive = (refresh: PendingRefresh) => Promise<RefreshOutcome>;

export function createRefreshLive(redis: ScriptableRedis): RefreshLive {
  const script = defineScript(redis, LUA);
  return async ({ period_id, payer_id, previous_version, usage_version, ...added }) => {
    const { points, requests, time_ms, traffic_bytes } = added;
    const counters = [points, requests, time_ms, traffic_bytes].filter((counter) => counter !== null);
    const shard = usageShard(payer_id);
    const done = await script(
      [usageLiveKey(shard, period_id), usageVersionKey(shard, period_id)],
      [previous_version, usage_version, VERSION_TTL_SEC, payer_id, ...counters],
    );
    const outcome = OUTCOMES[Number(done)];
    if (outcome === undefined) throw new Error('the refresh script returned an unknown code');
    return outcome;
  };
}
