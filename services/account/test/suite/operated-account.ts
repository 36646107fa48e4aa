import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import { startRedis } from '@tollgate/testbed/redis';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { openSuiteDatabase } from './account-under-test.ts';
import { startAuthStandIn } from './stand-ins/auth-stand-in.ts';
import type { AuthStandIn } from './stand-ins/auth-stand-in.ts';
import { operatorCredentials } from './operator.ts';
import { insertAccount } from './database/records.ts';

/** account with an open operator API, one account in its database, and a stand-in for auth. */
export type OperatedAccount = {
  account: ServiceProcess;
  auth: AuthStandIn;
  database: Knex;
  account_id: number;
  databaseUrl: string;
  startReplica: () => Promise<ServiceProcess>;
  close: () => Promise<void>;
};

export async function startOperatedAccount(
  changed: { databaseUrl?: string; settings?: Readonly<Record<string, string>> } = {},
): Promise<OperatedAccount> {
  const [home, redis, auth] = await Promise.all([createDatabase(), startRedis(), startAuthStandIn()]);
  const settings: Record<string, string> & { DATABASE_URL: string } = {
    DATABASE_URL: changed.databaseUrl ?? home.url,
    REDIS_URL: redis.url,
    AUTH_PRIVATE_URL: auth.url,
    OPERATOR_CREDENTIALS: operatorCredentials,
    PRIVATE_API_TIMEOUT_MS: '1500',
    ...changed.settings,
  };
  const account = await startServiceProcess('account', settings);
  const replicas: ServiceProcess[] = [];
  const database = openSuiteDatabase(settings.DATABASE_URL);
  await becomeReady(account);
  return {
    account,
    auth,
    database,
    account_id: await insertAccount(database),
    databaseUrl: settings.DATABASE_URL,
    startReplica: async () => {
      // The ports of the first are taken, and its answers would pass for the replica's.
      const { PUBLIC_PORT: _public, PRIVATE_PORT: _private, ...shared } = settings;
      const replica = await startServiceProcess('account', shared);
      replicas.push(replica);
      await becomeReady(replica);
      return replica;
    },
    close: async () => {
      await Promise.all([account, ...replicas].map((process) => process.stop()));
      await Promise.all([database.destroy(), auth.close()]);
      await Promise.all([redis.stop(), home.drop()]);
    },
  };
}
