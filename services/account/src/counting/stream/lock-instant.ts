import type { LockInstant } from '../../billing/credits/changes.ts';
import { defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { lockPayerPositions } from './positions.ts';
import { streamIdMs } from './stream-id.ts';

/** A script, because TIME alone names no key: in a cluster, another master than the stream's would answer. */
const LUA = `
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Locks the position of the payer's stream, so that no reader counts what comes later (docs/design/credits.md). */
export function createLockInstant(redis: ScriptableRedis): LockInstant {
  const readMs = defineScript(redis, LUA);
  return async (query, payerId) => {
    const positions = await lockPayerPositions(query, payerId);
    const nowMs = Number(await readMs([...positions.keys()].slice(0, 1), []));
    // Entries that are counted lie before, also those of the same millisecond.
    return Math.max(nowMs, ...[...positions.values()].map((position) => streamIdMs(position) + 1));
  };
}
