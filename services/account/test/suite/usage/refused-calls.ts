import { REFUSED_CALLS_KEY, REFUSED_CALL_FIELD } from '@tollgate/contracts/refused-call';
import type { RefusedCall } from '@tollgate/contracts/refused-call';
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
