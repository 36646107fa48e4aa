import { REFUSED_CALLS_KEY, refusedCallSchema } from '@tollgate/contracts/refused-call';
import type { RefusedCall } from '@tollgate/contracts/refused-call';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';

/** Records of refused calls, in the order of their stream. */
export async function recordedRefusals(redisUrl: string): Promise<RefusedCall[]> {
  const client = openRedis(redisUrl, createLogger('test', 'silent'));
  try {
    await waitFor(() => client.status === 'ready', { what: 'a connection to Redis' });
    const entries = await client.xrange(REFUSED_CALLS_KEY, '-', '+');
    return entries.map(([, fields]) => refusedCallSchema.parse(JSON.parse(fields[1] ?? '')));
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
