import { randomInt, randomUUID } from 'node:crypto';
import { hmacSecret, newClientSecret, pepperSetting } from '@tollgate/client-secret';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { Redis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { clientSecretPeppers, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startAccountStandIn } from './account-stand-in.ts';
import type { AccountStandIn } from './account-stand-in.ts';

/** What a suite of auth runs on: the real process, a Redis of its own, and account's stand-in. */
export type AuthUnderTest = {
  service: ServiceProcess;
  redis: OwnRedis;
  /** The suite's own look into that Redis. */
  store: Redis;
  /** Starts Redis again after a kill; resolves when the store is connected too. */
  restartRedis: () => Promise<void>;
  account: AccountStandIn;
  close: () => Promise<void>;
};

/** `redisSettings` are further lines of that Redis' redis.conf. */
export async function startAuth(
  env: Readonly<Record<string, string>> = {},
  redisSettings: readonly string[] = [],
): Promise<AuthUnderTest> {
  const [account, redis] = await Promise.all([startAccountStandIn(), startRedis(redisSettings)]);
  const service = await startServiceProcess('auth', {
    REDIS_URL: redis.url,
    ACCOUNT_PRIVATE_URL: account.url,
    ...env,
  });
  const store = openRedis(redis.url, createLogger('suite', 'silent'));
  await waitFor(() => store.status === 'ready');
  await waitFor(async () => (await fetch(`${service.privateUrl}/health/ready`)).ok);
  return {
    service,
    redis,
    store,
    account,
    restartRedis: async () => {
      await redis.restart();
      await waitFor(() => store.status === 'ready');
    },
    close: async () => {
      await service.stop();
      store.disconnect();
      await Promise.all([redis.stop(), account.close()]);
    },
  };
}

export type TestClient = { client_id: string; client_secret: string; record: ClientRecord };

/** A client that account knows. */
export function addClient(
  account: Pick<AccountStandIn, 'clients'>,
  changes: Partial<ClientRecord> = {},
): TestClient {
  const client_id = randomUUID();
  const client_secret = newClientSecret();
  const record: ClientRecord = {
    client_id,
    application_id: randomInt(1, 1_000_000),
    account_id: randomInt(1, 1_000_000),
    status: 'active',
    token_lifespan_sec: 3_600,
    revocation_epoch: 0,
    secrets: [{ ...hmacSecret(client_secret, pepperSetting.parse(clientSecretPeppers)), expires_at: null }],
    ...changes,
  };
  account.clients.set(client_id, record);
  return { client_id, client_secret, record };
}
