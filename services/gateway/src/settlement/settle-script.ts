import { USAGE_BATCH_FIELD, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import type { Redis } from '@tollgate/redis';

/** How long a gateway's last number is kept: far longer than it tries to send one batch again. */
const SEEN_TTL_SEC = 86_400;

/**
 * Appends a batch to its shard's stream unless it is there already: a gateway's batches of one shard come in
 * the order of their numbers, so the last number tells. XADD is first because a script isn't rolled back: were
 * the number stored and the stream then refused (out of memory), the batch would be lost.
 */
const LUA = `
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) <= last then return 0 end
redis.call('XADD', KEYS[2], '*', ARGV[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[4])
return 1
`;

type Script = {
  tollgateSettle: (
    seenKey: string,
    streamKey: string,
    seq: number,
    field: string,
    batch: string,
    ttlSec: number,
  ) => Promise<number>;
};

/** `recorded`, or `repeated` where an earlier attempt had arrived after all. */
export type SettleResult = 'recorded' | 'repeated';

export type SendBatch = (shard: number, batch: UsageBatch) => Promise<SettleResult>;

/** Defines the settlement script on a connection. Both keys of a shard share its Redis Cluster slot. */
export function createSendBatch(redis: Redis): SendBatch {
  redis.defineCommand('tollgateSettle', { numberOfKeys: 2, lua: LUA });
  // defineCommand adds the method at run time, where the type can't see it.
  const { tollgateSettle } = redis as unknown as Script;
  return async (shard, batch) => {
    const added = await tollgateSettle.call(
      redis,
      `{s${String(shard)}}:seen:${batch.gateway_id}`,
      usageStreamKey(shard),
      batch.seq,
      USAGE_BATCH_FIELD,
      JSON.stringify(batch),
      SEEN_TTL_SEC,
    );
    return added === 1 ? 'recorded' : 'repeated';
  };
}
