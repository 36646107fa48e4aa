import { LUA_DATA_SET, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { LUA_POINTS_LEFT } from './credits-lua.ts';
import { liveKeys } from './keys.ts';
import type { PrimePayer } from './prime.ts';
import type { PayerEntitlement } from './principal.ts';

/** Null if it isn't known at the moment. Never rejects. */
export type ReadPointsLeft = (payer: PayerEntitlement) => Promise<number | null>;

export const LUA = `${LUA_DATA_SET}${LUA_POINTS_LEFT}
return (points_left_of(ARGV[1], KEYS, data_set)) or -1
`;

/** What open subscriptions of a payer with credits can still use. Missing live counters are rebuilt meanwhile. */
export function createReadPointsLeft(redis: ScriptableRedis, primePayer: PrimePayer): ReadPointsLeft {
  const read = defineScript(redis, LUA);
  return async (payer) => {
    try {
      const left = Number(await read(liveKeys(payer), [payer.credits?.argument ?? '']));
      if (left >= 0) return left;
      await primePayer(payer);
    } catch {
      // Redis or account is away: the next settlement asks again.
    }
    return null;
  };
}
