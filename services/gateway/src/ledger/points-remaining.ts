import { LIVE_COUNTERS } from '@tollgate/contracts/usage-stream';
import { LUA_DATA_SET, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { liveKeys } from './keys.ts';
import type { ReadPointsLeft } from './points-left.ts';
import type { PrimePayer } from './prime.ts';
import type { PayerEntitlement } from './principal.ts';

const LUA = `${LUA_DATA_SET}
local live = redis.call('HMGET', KEYS[1], 'data_set', 'counters')
if live[1] ~= data_set or not live[2] then return -1 end
return (struct.unpack('${LIVE_COUNTERS}', live[2]))
`;

/** The points that a payer has left; null if they aren't limited, or aren't known at the moment. Never rejects. */
export function createReadPointsRemaining(
  redis: ScriptableRedis,
  primePayer: PrimePayer,
  readPointsLeft: ReadPointsLeft,
): (payer: PayerEntitlement) => Promise<number | null> {
  const read = defineScript(redis, LUA);
  return async (payer) => {
    if (payer.credits !== null) {
      // Missing live counters are rebuilt by the first attempt.
      const left = (await readPointsLeft(payer)) ?? (await readPointsLeft(payer));
      return left?.ofCredits ?? null;
    }
    const { points_limit: limit } = payer.limits;
    if (limit === null) return null;
    try {
      const [key] = liveKeys(payer);
      let used = Number(await read([key], []));
      if (used < 0) {
        await primePayer(payer);
        used = Number(await read([key], []));
      }
      return used < 0 ? null : Math.max(limit - used, 0);
    } catch {
      // Redis or account is away.
      return null;
    }
  };
}
