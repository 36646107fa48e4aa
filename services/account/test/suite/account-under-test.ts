import type { Knex } from 'knex';
import { USAGE_SHARD_COUNT } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import { startRedis } from '@tollgate/testbed/redis';
import type { RunningRedis } from '@tollgate/testbed/redis';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { createPostgresServer } from '../../src/platform/database/postgres-server.ts';
import { openDatabase } from '../../src/platform/database/database.ts';

/** Real processes of account and auth, with a database and a Redis of their own. */
export type AccountUnderTest = {
  account: ServiceProcess;
  auth: ServiceProcess;
  redis: RunningRedis;
  /** The suite's own connections to that Redis and the database. */
  store: RedisConnection;
  database: Knex;
  /** account's settings, for a second replica. */
  settings: Readonly<Record<string, string>>;
  close: () => Promise<void>;
};

const silent = createLogger('suite', 'silent');

export type AccountOptions = {
  /** A migrated database; otherwise the suite gets its own. */
  databaseUrl?: string;
  redis?: RunningRedis;
  /** Settings that differ from the suite's. */
  settings?: Readonly<Record<string, string>>;
  authSettings?: Readonly<Record<string, string>>;
};

export async function startAccount(options: AccountOptions = {}): Promise<AccountUnderTest> {
  const [database, redis, authPort, accountPort] = await Promise.all([
    options.databaseUrl === undefined
      ? createDatabase()
      : { url: options.databaseUrl, drop: () => undefined },
    options.redis ?? startRedis(),
    freePort(),
    freePort(),
  ]);
  const settings = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    AUTH_PRIVATE_URL: `http://127.0.0.1:${String(authPort)}`,
    // A stream that a test holds up is that of few payers.
    USAGE_LANES: String(USAGE_SHARD_COUNT),
    ...options.settings,
  };
  const [account, auth] = await Promise.all([
    startServiceProcess('account', { ...settings, PRIVATE_PORT: String(accountPort) }),
    startServiceProcess('auth', {
      REDIS_URL: redis.url,
      ACCOUNT_PRIVATE_URL: `http://127.0.0.1:${String(accountPort)}`,
      PRIVATE_PORT: String(authPort),
      ...options.authSettings,
    }),
  ]);
  const store = openRedis(redis.url, silent);
  const own = openSuiteDatabase(database.url);
  await Promise.all([waitFor(() => store.status === 'ready'), becomeReady(account), becomeReady(auth)]);
  return {
    account,
    auth,
    redis,
    store,
    database: own,
    settings,
    close: async () => {
      await Promise.all([account.stop(), auth.stop(), own.destroy()]);
      store.disconnect();
      await Promise.all([options.redis === undefined ? redis.stop() : undefined, database.drop()]);
    },
  };
}

export function openSuiteDatabase(url: string): Knex {
  return openDatabase({
    server: createPostgresServer({ url }),
    poolMax: 4,
    acquireTimeoutMs: 5_000,
    statementTimeoutMs: 10_000,
    logger: silent,
  });
}
