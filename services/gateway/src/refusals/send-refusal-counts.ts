import { REFUSAL_COUNTS_FIELD, REFUSAL_COUNTS_KEY } from '@tollgate/contracts/refused-call';
import type { RedisConnection } from '@tollgate/redis';
import type { SendCounts } from './refusal-counts.ts';

/** Some 20 MB in Redis while account is unavailable; then the gateways keep and add up their counts. */
const MAX_ENTRIES = 1_000;

export function createSendRefusalCounts(redis: Pick<RedisConnection, 'xadd' | 'xlen'>): SendCounts {
  return async (batch) => {
    try {
      if ((await redis.xlen(REFUSAL_COUNTS_KEY)) >= MAX_ENTRIES) return 'full';
      await redis.xadd(REFUSAL_COUNTS_KEY, '*', REFUSAL_COUNTS_FIELD, JSON.stringify(batch));
      return 'sent';
    } catch {
      return 'failed';
    }
  };
}
