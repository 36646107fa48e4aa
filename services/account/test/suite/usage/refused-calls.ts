import { randomUUID } from 'node:crypto';
import {
  REFUSAL_COUNTS_FIELD,
  REFUSAL_COUNTS_KEY,
  REFUSED_CALLS_KEY,
  REFUSED_CALL_FIELD,
} from '@tollgate/contracts/refused-call';
import type { RefusalCount, RefusalCountBatch, RefusedCall } from '@tollgate/contracts/refused-call';
import { newRequestId } from '@tollgate/log/request-id';
import type { RedisConnection } from '@tollgate/redis';

let lastSeq = 0;

export function refusedCall(changes: Partial<RefusedCall> = {}): RefusedCall {
  lastSeq += 1;
  return {
    request_id: newRequestId(),
    seq: lastSeq,
    at_ms: Date.now(),
    kind: 'call',
    code: 'points_limit_exceeded',
    status: 402,
    account_id: null,
    payer_id: null,
    application_id: null,
    client_id: null,
    address: '192.0.2.7',
    api_version: 'v2',
    duration_ms: 3,
    detail: 'The points of this billing period are used up.',
    unrecorded_before: 0,
    points: 0,
    operation_name: null,
    ...changes,
  };
}

export async function appendRefusals(
  redis: Pick<RedisConnection, 'xadd'>,
  calls: readonly RefusedCall[],
): Promise<void> {
  await Promise.all(
    calls.map((call) => redis.xadd(REFUSED_CALLS_KEY, '*', REFUSED_CALL_FIELD, JSON.stringify(call))),
  );
}

const HOUR_MS = 3_600_000;

/** `calls` calls of the current hour. */
export function refusalCount(changes: Partial<RefusalCount> = {}): RefusalCount {
  const { last_at_ms = Date.now() } = changes;
  return {
    code: 'points_limit_exceeded',
    account_id: null,
    payer_id: null,
    application_id: null,
    client_id: null,
    hour_ms: last_at_ms - (last_at_ms % HOUR_MS),
    last_at_ms,
    calls: 1,
    ...changes,
  };
}

/** What a gateway process sends; each process numbers its own. */
export function countBatch(
  counts: RefusalCount[],
  { gateway_id = randomUUID(), seq = 1 }: Partial<RefusalCountBatch> = {},
): RefusalCountBatch {
  return { gateway_id, seq, counts };
}

export async function appendCounts(
  redis: Pick<RedisConnection, 'xadd'>,
  ...batches: RefusalCountBatch[]
): Promise<void> {
  for (const batch of batches) {
    await redis.xadd(REFUSAL_COUNTS_KEY, '*', REFUSAL_COUNTS_FIELD, JSON.stringify(batch));
  }
}
