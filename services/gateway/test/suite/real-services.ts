import { USAGE_SHARD_COUNT, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { createLogger } from '@tollgate/log';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { becomeReady, serviceCredential, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { unlessBusy } from '@tollgate/testbed/unless-busy';
import { insertPayer } from './records/billing-records.ts';

export type Customer = {
  accountId: number;
  periodId: number;
  applicationId: number;
  token: string;
};

/** Two or more gateways with the real auth and account, over a real Postgres and a Redis of their own. */
export type RealServices = {
  redis: OwnRedis;
  /** The suite's own connection to that Redis. */
  store: RedisConnection;
  databaseUrl: string;
  auth: ServiceProcess;
  account: ServiceProcess;
  gateways: readonly [ServiceProcess, ServiceProcess, ...ServiceProcess[]];
  /** An account with a period of that description, an application and its token. */
  newCustomer: (description: Readonly<Record<string, unknown>>) => Promise<Customer>;
  /** A request of account's operator API, or a usage report; throws if it is refused. */
  operate: (
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Record<string, unknown>>;
  /** GET /api/usage. */
  usage: (customer: Customer) => Promise<UsageResponse>;
  /** Waits until the streams are empty: entries are removed only when they are counted or set aside. */
  allCounted: () => Promise<void>;
  /** Waits until a service says that it is ready. */
  ready: (service: ServiceProcess) => Promise<void>;
  stop: () => Promise<void>;
};

export type RealOptions = {
  /** Settings of the gateways that differ from the suite's. */
  gatewayEnv: Readonly<Record<string, string>> & { UPSTREAM_URL: string };
  /** Settings of auth and account that differ from the suite's. */
  commonEnv?: Readonly<Record<string, string>>;
  /** How many gateways there are; two by default. */
  gatewayCount?: number;
  /** A migrated database on another server than the run's. */
  databaseUrl?: string;
  /** The URL by which account reaches auth's private listener on that port. */
  authUrlOfAccount?: (authPort: number) => Promise<string>;
};

const COUNTING_TIME_LIMIT_MS = 30_000;

export async function startRealServices(options: RealOptions): Promise<RealServices> {
  const [database, redis, authPort, accountPort] = await Promise.all([
    options.databaseUrl === undefined
      ? createDatabase()
      : { url: options.databaseUrl, drop: () => Promise.resolve() },
    startRedis(),
    freePort(),
    freePort(),
  ]);
  const authPrivate = { AUTH_PRIVATE_URL: `http://127.0.0.1:${String(authPort)}` };
  const accountPrivate = { ACCOUNT_PRIVATE_URL: `http://127.0.0.1:${String(accountPort)}` };
  // Calls are under way when these services stop: the product's own grace.
  const common = { REDIS_URL: redis.url, SHUTDOWN_IDLE_GRACE_MS: '500', ...options.commonEnv };
  const [auth, account] = await Promise.all([
    startServiceProcess('auth', { ...common, ...accountPrivate, PRIVATE_PORT: String(authPort) }),
    startServiceProcess('account', {
      ...common,
      AUTH_PRIVATE_URL: (await options.authUrlOfAccount?.(authPort)) ?? authPrivate.AUTH_PRIVATE_URL,
      PRIVATE_PORT: String(accountPort),
      DATABASE_URL: database.url,
      OPERATOR_CREDENTIALS: `${serviceCredential.id}:${serviceCredential.secret}`,
      USAGE_REPORTER_CREDENTIALS: `${serviceCredential.id}:${serviceCredential.secret}`,
    }),
  ]);
  const gatewayEnv = {
    ...common,
    ...authPrivate,
    ...accountPrivate,
    AUTH_PUBLIC_URL: auth.publicUrl,
    ACCOUNT_PUBLIC_URL: account.publicUrl,
    ...options.gatewayEnv,
  };
  const start = () => startServiceProcess('gateway', gatewayEnv);
  const more = Array.from({ length: (options.gatewayCount ?? 2) - 2 }, start);
  const gateways = await Promise.all([start(), start(), ...more]);
  const store = openRedis(redis.url, createLogger('suite', 'silent'));
  const services = [auth, account, ...gateways];
  await Promise.all([waitFor(() => store.status === 'ready'), ...services.map(becomeReady)]);
  const operate = operatorOf(account);
  return {
    redis,
    store,
    databaseUrl: database.url,
    auth,
    account,
    gateways,
    operate,
    newCustomer: async (description) => {
      const payer = await insertPayer(database.url, description);
      return { ...payer, ...(await newToken(operate, auth, payer.accountId)) };
    },
    usage: ({ token }) => usageOf(account, token),
    allCounted: () => allCounted(store),
    ready: becomeReady,
    stop: async () => {
      await Promise.all(services.map((service) => service.stop()));
      store.disconnect();
      await Promise.all([redis.stop(), database.drop()]);
    },
  };
}

function operatorOf(account: ServiceProcess): RealServices['operate'] {
  return async (method, path, body, headers = {}) => {
    const authorization = basicAuthorization(serviceCredential);
    const response = await fetch(account.privateUrl + path, {
      method,
      headers: { authorization, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)}`);
    return (await response.json()) as Record<string, unknown>;
  };
}

async function newToken(
  operate: RealServices['operate'],
  auth: ServiceProcess,
  accountId: number,
): Promise<{ applicationId: number; token: string }> {
  const application = await operate('POST', '/private/applications', {
    account_id: accountId,
    name: 'Suite',
    type: 'automatic',
    token_lifespan_sec: 3_600,
  });
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'api',
    client_id: String(application['client_id']),
    client_secret: String(application['client_secret']),
  });
  const response = await unlessBusy(() => fetch(`${auth.publicUrl}/oauth2/token`, { method: 'POST', body }));
  const { access_token } = (await response.json()) as { access_token?: string };
  if (access_token === undefined) throw new Error(`no token: ${String(response.status)}`);
  return { applicationId: Number(application['application_id']), token: access_token };
}

async function usageOf(account: ServiceProcess, token: string): Promise<UsageResponse> {
  const response = await fetch(`${account.publicUrl}/api/usage`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(`no usage: ${String(response.status)}`);
  return usageResponseSchema.parse(await response.json());
}

async function allCounted(store: RedisConnection): Promise<void> {
  const shards = Array.from({ length: USAGE_SHARD_COUNT }, (_, shard) => shard);
  await waitFor(
    async () => {
      const lengths = await Promise.all(shards.map((shard) => store.xlen(usageStreamKey(shard))));
      return lengths.every((length) => length === 0);
    },
    { timeoutMs: COUNTING_TIME_LIMIT_MS, what: 'the usage streams to be read' },
  );
}
