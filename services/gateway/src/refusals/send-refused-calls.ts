import { REFUSED_CALLS_KEY, REFUSED_CALL_FIELD } from '@tollgate/contracts/refused-call';
import type { RefusedCall } from '@tollgate/contracts/refused-call';
import type { RedisConnection } from '@tollgate/redis';

/** Some 25 MB in Redis while account is unavailable. */
const MAX_ENTRIES = 50_000;

/** Resolves with the unacknowledged records. A repeat does no harm: account knows records by id and number. */
export function createSendRefusedCalls(redis: Pick<RedisConnection, 'xadd'>) {
  return async (records: readonly RefusedCall[]): Promise<RefusedCall[]> => {
    // One write (batchWrites).
    const sent = await Promise.allSettled(
      records.map((record) =>
        redis.xadd(
          REFUSED_CALLS_KEY,
          'MAXLEN',
          '~',
          MAX_ENTRIES,
          '*',
          REFUSED_CALL_FIELD,
          JSON.stringify(record),
        ),
      ),
    );
    return records.filter((_, index) => sent[index]?.status === 'rejected');
  };
}
