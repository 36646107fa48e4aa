import { entitlementKey, keptEntitlementSchema } from '@tollgate/contracts/entitlement';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import { LUA_DATA_SET, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';

/** `ageMs`: since account read Postgres, so that durations of the answer count from there. */
export type AgedEntitlement = { entitlement: Entitlement; ageMs: number };

/** Undefined if account has to be asked. */
export type ReadKeptAnswer = (accountId: number) => Promise<AgedEntitlement | undefined>;

/** Searches INFO for the data set only where there is an answer. */
const READ = `
local known = redis.call('HMGET', KEYS[1], 'generation', 'answer', 'kept_for_ms')
if not known[1] or not known[2] then return false end
${LUA_DATA_SET}
if string.sub(known[1], 1, #data_set) ~= data_set then return false end
return { known[2], tonumber(known[3]), redis.call('PTTL', KEYS[1]) }
`;

/** Reads what account keeps in Redis (entitlementKey): one round trip, nothing of Postgres. */
export function createReadKeptAnswer(redis: ScriptableRedis): ReadKeptAnswer {
  const read = defineScript(redis, READ);
  return async (accountId) => {
    const kept = (await read([entitlementKey(accountId)], [])) as [string, number, number] | null;
    if (kept === null) return undefined;
    const [answer, keptForMs, leftMs] = kept;
    const ageMs = keptForMs - leftMs;
    const entitlement = keptEntitlementSchema.safeParse(JSON.parse(answer));
    if (!entitlement.success) return undefined;
    const { valid_for_ms } = entitlement.data;
    // A negative age: Redis' clock has stepped back.
    const isValid = ageMs >= 0 && ageMs < (valid_for_ms ?? Infinity);
    return isValid ? { entitlement: entitlement.data, ageMs } : undefined;
  };
}
