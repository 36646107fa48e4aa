import { REFUSED_CALLS_KEY, REFUSED_CALL_FIELD } from '@tollgate/contracts/refused-call';
import type { RefusedCall } from '@tollgate/contracts/refused-call';
import type { RedisConnection } from '@tollgate/redis';

/** Some 25 MB in Redis while account is away; the oldest go first. */
const MAX_ENTRIES = 50_000;

/**
 * Appends records to the stream that account reads. Resolves with those without a certain answer, which may be sent
 * again: account knows a record by its request id and number.
 */
export function createSendRefusedCalls(redis: Pick<RedisConnection, 'xadd'>) {
  return async (records: readonly RefusedCall[]): Promise<RefusedCall[]> => {
    // The commands of one turn go out in one write (batchWrites).
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
