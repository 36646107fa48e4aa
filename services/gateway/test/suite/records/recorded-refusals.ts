import {
  REFUSAL_COUNTS_KEY,
  REFUSED_CALLS_KEY,
  refusalCountBatchSchema,
  refusedCallSchema,
} from '@tollgate/contracts/refused-call';
import type { RefusedCall } from '@tollgate/contracts/refused-call';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';

/** Records of refused calls, in the order of their stream. */
export async function recordedRefusals(redisUrl: string): Promise<RefusedCall[]> {
  const values = await streamed(redisUrl, REFUSED_CALLS_KEY);
  return values.map((value) => refusedCallSchema.parse(value));
}

/** How many calls of an account the gateway has counted as refused, and with which codes. */
export async function countedRefusals(redisUrl: string, accountId: number) {
  const batches = await streamed(redisUrl, REFUSAL_COUNTS_KEY);
  const counts = batches
    .flatMap((value) => refusalCountBatchSchema.parse(value).counts)
    .filter(({ account_id }) => account_id === accountId);
  return {
    calls: counts.reduce((sum, { calls }) => sum + calls, 0),
    codes: [...new Set(counts.map(({ code }) => code))],
  };
}

async function streamed(redisUrl: string, key: string): Promise<unknown[]> {
  const client = openRedis(redisUrl, createLogger('test', 'silent'));
  try {
    await waitFor(() => client.status === 'ready', { what: 'a connection to Redis' });
    const entries = await client.xrange(key, '-', '+');
    return entries.map(([, fields]) => JSON.parse(fields[1] ?? '') as unknown);
  } finally {
    client.disconnect();
  }
}

/** Waits until so many records have this request id. */
export async function refusalsOf(redisUrl: string, requestId: unknown, count = 1): Promise<RefusedCall[]> {
  let found: RefusedCall[] = [];
  await waitFor(
    async () => {
      found = (await recordedRefusals(redisUrl)).filter(({ request_id }) => request_id === requestId);
      return found.length >= count;
    },
    { what: `records of ${String(requestId)}` },
  );
  return found;
}
