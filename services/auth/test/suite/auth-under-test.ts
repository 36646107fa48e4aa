import { randomInt, randomUUID } from 'node:crypto';
import { accessTokenHash, newAccessToken } from '@tollgate/credentials/access-token';
import { hmacSecret, newClientSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import type { ClientAnswer } from '@tollgate/contracts/client-record';
import { createLogger } from '@tollgate/log';
import { mastersOf, openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import type { RunningRedis } from '@tollgate/testbed/redis';
import { clientSecretPeppers, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startAccountStandIn } from './account-stand-in.ts';
import type { AccountStandIn } from './account-stand-in.ts';
import { startTopology } from './topology.ts';

export type AuthUnderTest = {
  service: ServiceProcess;
  redis: RunningRedis;
  /** The suite's own connection to that Redis. */
  store: RedisConnection;
  /** Starts Redis again after a kill; resolves when the store is connected too. */
  restartRedis: () => Promise<void>;
  account: AccountStandIn;
  close: () => Promise<void>;
};

/** `redisSettings` are further lines of that Redis' redis.conf; `prepare` makes it one that takes writes. */
export async function startAuth(
  env: Readonly<Record<string, string>> = {},
  redisSettings: readonly string[] = [],
  prepare: (store: RedisConnection) => Promise<void> = () => Promise.resolve(),
): Promise<AuthUnderTest> {
  const [account, redis] = await Promise.all([startAccountStandIn(), startTopology(redisSettings)]);
  const service = await startServiceProcess('auth', {
    REDIS_URL: redis.url,
    ACCOUNT_PRIVATE_URL: account.url,
    // Only once at start; restore.test.ts sets its own.
    RESTORE_CHECK_INTERVAL_MS: '600000',
    ...env,
  });
  const store = openRedis(redis.url, createLogger('suite', 'silent'));
  await waitFor(() => isConnected(store));
  await prepare(store);
  await becomeRestored(service);
  return {
    service,
    redis,
    store,
    account,
    restartRedis: async () => {
      await redis.restart();
      await waitFor(() => isConnected(store));
    },
    close: async () => {
      await service.stop();
      store.disconnect();
      await Promise.all([redis.stop(), account.close()]);
    },
  };
}

/** Also the manual tokens are restored, which auth doesn't need to answer. */
export async function becomeRestored({ privateUrl }: Pick<ServiceProcess, 'privateUrl'>): Promise<void> {
  await waitFor(
    async () => {
      const response = await fetch(`${privateUrl}/health/ready`);
      return ((await response.json()) as { status: string }).status === 'ready';
    },
    { what: 'auth to have restored manual tokens' },
  );
}

async function isConnected(store: RedisConnection): Promise<boolean> {
  await Promise.all(mastersOf(store).map((master) => master.ping()));
  return store.status === 'ready';
}

export type TestClient = { client_id: string; client_secret: string; record: ClientAnswer };

export function addClient(
  account: Pick<AccountStandIn, 'clients'>,
  changes: Partial<ClientAnswer> = {},
): TestClient {
  const client_id = randomUUID();
  const client_secret = newClientSecret();
  const record: ClientAnswer = {
    client_id,
    application_id: randomInt(1, 1_000_000),
    account_id: randomInt(1, 1_000_000),
    status: 'active',
    token_lifespan_sec: 3_600,
    revocation_epoch: 0,
    secrets: [{ ...hmacSecret(client_secret, pepperSetting.parse(clientSecretPeppers)), expires_at: null }],
    manual_tokens: [],
    ...changes,
  };
  account.clients.set(client_id, record);
  return { client_id, client_secret, record };
}

/** account commits a manual token, and doesn't notify auth. */
export function addManualToken(
  account: Pick<AccountStandIn, 'clients'>,
  { client_id }: Pick<TestClient, 'client_id'>,
  lifespanSec = 3_600,
): string {
  const record = account.clients.get(client_id);
  if (record === undefined) throw new Error('account has no such client');
  const token = newAccessToken('tg', client_id);
  const iat = Math.floor(Date.now() / 1_000);
  const made = {
    token_hash: accessTokenHash(token),
    iat,
    exp: iat + lifespanSec,
    epoch: record.revocation_epoch,
  };
  const manual_tokens = [...record.manual_tokens, made];
  account.clients.set(client_id, { ...record, manual_tokens });
  return token;
}
