import { usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { lanesOfPayer, lockLaneCount } from '../../platform/usage-lanes.ts';
import { FIRST_STREAM_ID, streamIdMs } from './stream-id.ts';

/** A script, because TIME alone names no key: in a cluster, another master than the stream's would answer. */
const LUA = `
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Locks the position of the payer's stream, so that no reader counts what comes later (docs/design/credits.md). */
export function createLockInstant(redis: ScriptableRedis): LockInstant {
  const readMs = defineScript(redis, LUA);
  return async (query, payerId) => {
    const streams = lanesOfPayer(await lockLaneCount(query), payerId).map(usageStreamKey);
    // A reader makes the row as it starts.
    await query(
      `INSERT INTO usage_stream_positions (stream, position)
       SELECT stream, :first FROM unnest(CAST(:streams AS text[])) AS stream ORDER BY stream
       ON CONFLICT (stream) DO NOTHING`,
      { streams, first: FIRST_STREAM_ID },
    );
    const rows = await query<{ position: string }>(
      `SELECT position FROM usage_stream_positions WHERE stream = ANY (CAST(:streams AS text[]))
       ORDER BY stream FOR UPDATE`,
      { streams },
    );
    const nowMs = Number(await readMs(streams.slice(0, 1), []));
    // Entries that are counted lie before, also those of the same millisecond.
    return Math.max(nowMs, ...rows.map(({ position }) => streamIdMs(position) + 1));
  };
}
