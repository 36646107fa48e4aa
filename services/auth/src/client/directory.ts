import { applicationPart } from '@tollgate/access-token';
import { clientRecordSchema } from '@tollgate/contracts/client-record';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { PrivateApi } from '@tollgate/private-api/client';
import { Problem } from '@tollgate/problem';
import type { Redis } from '@tollgate/redis';
import { redisAnswer } from '../redis-answer.ts';

export type ClientDirectory = {
  /**
   * A client's record, or null where account knows none. `clientId` must be a UUID in lower case.
   * @throws {Problem} service_unavailable where Redis or account can't be asked
   */
  find: (clientId: string, requestId: string) => Promise<ClientRecord | null>;
};

/** "Unknown" is kept like a record, or an unknown client would be told from a known one by the time it takes. */
const cachedSchema = clientRecordSchema.nullable();

/**
 * Client records of account's private API, kept in Redis for cacheTtlMs at `auth:{<application part>}:client`.
 * While one client is being looked up, further callers wait for that answer. Failures aren't kept.
 */
export function createClientDirectory(options: {
  redis: Pick<Redis, 'get' | 'set'>;
  account: Pick<PrivateApi, 'get'>;
  cacheTtlMs: number;
}): ClientDirectory {
  const { redis, account, cacheTtlMs } = options;
  const inFlight = new Map<string, Promise<ClientRecord | null>>();

  async function lookUp(clientId: string, requestId: string): Promise<ClientRecord | null> {
    const key = `auth:{${applicationPart(clientId)}}:client`;
    const cached = readCached(await redisAnswer(redis.get(key)));
    if (cached !== undefined) return cached;
    const record = await account.get(`/private/clients/${clientId}`, clientRecordSchema, requestId);
    if (record !== null && record.client_id !== clientId) {
      throw new Problem('service_unavailable', { cause: new Error('account answered with another client') });
    }
    await redisAnswer(redis.set(key, JSON.stringify(record), 'PX', cacheTtlMs));
    return record;
  }

  return {
    find: (clientId, requestId) => {
      const pending = inFlight.get(clientId);
      if (pending !== undefined) return pending;
      const asked = lookUp(clientId, requestId).finally(() => inFlight.delete(clientId));
      inFlight.set(clientId, asked);
      return asked;
    },
  };
}

/** What another version of auth left behind in another shape counts as nothing. */
function readCached(json: string | null): ClientRecord | null | undefined {
  if (json === null) return undefined;
  const parsed = cachedSchema.safeParse(JSON.parse(json));
  return parsed.success ? parsed.data : undefined;
}
