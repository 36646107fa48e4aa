import { randomBytes, randomUUID } from 'node:crypto';
import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { freePort } from '@tollgate/stack/ports';
import { withClient } from '@tollgate/stack/postgres';
import { createDatabase } from '@tollgate/testbed/database';
import type { RunningRedis } from '@tollgate/testbed/redis';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { unlessBusy } from '@tollgate/testbed/unless-busy';
import { call } from './http-client.ts';
import type { Answer } from './http-client.ts';

/** An account that pays for itself, with an application and its token. */
export type Payer = { accountId: number; applicationId: number; token: string };

/** auth, account and two gateways as real processes over one Redis of whatever topology. */
export type WholeStack = {
  auth: ServiceProcess;
  account: ServiceProcess;
  gateways: readonly [ServiceProcess, ServiceProcess];
  /** Payers with a current billing period; `limits` are their plan's. */
  addPayers: (count: number, limits: Readonly<Record<string, number>>) => Promise<Payer[]>;
  /** A request of account's operator API. */
  operate: (method: string, path: string, body?: unknown) => Promise<Answer>;
  block: (payer: Payer) => Promise<void>;
  /** GET /api/usage. */
  usage: (payer: Payer) => Promise<UsageResponse>;
  stop: () => Promise<void>;
};

const operator = { id: 'suite-operator', secret: randomBytes(24).toString('base64url') };

export async function startWholeStack(
  redis: RunningRedis,
  upstream: { httpUrl: string; webSocketUrl: string },
): Promise<WholeStack> {
  const [database, authPort, accountPort] = await Promise.all([createDatabase(), freePort(), freePort()]);
  const peers = {
    REDIS_URL: redis.url,
    AUTH_PRIVATE_URL: `http://127.0.0.1:${String(authPort)}`,
    ACCOUNT_PRIVATE_URL: `http://127.0.0.1:${String(accountPort)}`,
  };
  const [auth, account] = await Promise.all([
    startServiceProcess('auth', { ...peers, PRIVATE_PORT: String(authPort) }),
    startServiceProcess('account', {
      ...peers,
      DATABASE_URL: database.url,
      OPERATOR_CREDENTIALS: `${operator.id}:${operator.secret}`,
      PRIVATE_PORT: String(accountPort),
    }),
  ]);
  const startGateway = () =>
    startServiceProcess('gateway', {
      ...peers,
      AUTH_PUBLIC_URL: auth.publicUrl,
      ACCOUNT_PUBLIC_URL: account.publicUrl,
      UPSTREAM_URL: upstream.httpUrl,
      UPSTREAM_WS_URL: upstream.webSocketUrl,
    });
  const gateways = await Promise.all([startGateway(), startGateway()]);
  const services = [auth, account, ...gateways];
  for (const service of services) await becomeReady(service);

  return {
    auth,
    account,
    gateways,
    operate: (method, path, body) => operate(account, method, path, body),
    addPayers: async (count, limits) => {
      const ids = await insertPayers(database.url, count, limits);
      return await Promise.all(ids.map((accountId) => obtainToken({ auth, account }, accountId)));
    },
    block: ({ accountId }) =>
      withClient(database.url, async (client) => {
        await client.query('UPDATE accounts SET blocked_at = now() WHERE account_id = $1', [accountId]);
      }),
    usage: async ({ token }) => {
      const answer = await call(`${account.publicUrl}/api/usage`, {
        method: 'GET',
        headers: { authorization: `Bearer ${token}` },
      });
      return usageResponseSchema.parse(answer.json());
    },
    stop: async () => {
      await Promise.all(services.map((service) => service.stop()));
      await database.drop();
    },
  };
}

function operate(
  { privateUrl }: ServiceProcess,
  ...[method, path, body]: Parameters<WholeStack['operate']>
): Promise<Answer> {
  return call(`${privateUrl}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${operator.id}:${operator.secret}`).toString('base64')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** A new application of an account, and a token of it. */
async function obtainToken(
  { auth, account }: Pick<WholeStack, 'auth' | 'account'>,
  accountId: number,
): Promise<Payer> {
  const wanted = { account_id: accountId, name: 'App', type: 'automatic', token_lifespan_sec: 3_600 };
  const made = (await operate(account, 'POST', '/private/applications', wanted)).json() as {
    application_id: number;
    client_id: string;
    client_secret: string;
  };
  const { application_id: applicationId, client_id, client_secret } = made;
  const form = { grant_type: 'client_credentials', scope: 'api', client_id, client_secret };
  const granted = await unlessBusy(() =>
    call(`${auth.publicUrl}/oauth2/token`, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    }),
  );
  const { access_token: token } = granted.json() as { access_token: string };
  return { accountId, applicationId, token };
}

/** Accounts with their own plan, and a period of two days around now. */
function insertPayers(
  databaseUrl: string,
  count: number,
  limits: Readonly<Record<string, number>>,
): Promise<number[]> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ account_id: string }>(
      `WITH payers AS (
         INSERT INTO accounts (email, name, password_hash)
         SELECT $1 || '.' || n || '@example.com', 'Someone', 'none' FROM generate_series(1, $2) AS n
         RETURNING account_id
       ), plan AS (
         INSERT INTO plans (name, description, grace_sec) VALUES ($1, $3, 0) RETURNING plan_id
       )
       INSERT INTO billing_periods
         (account_id, plan_id, started_at, ended_at, description, grace_sec, plan_name)
       SELECT account_id, plan_id, date_trunc('second', now() - interval '1 day'),
              date_trunc('second', now() + interval '1 day'), $3, 0, 'Plan'
       FROM payers, plan RETURNING account_id`,
      [randomUUID(), count, JSON.stringify(limits)],
    );
    return rows.map(({ account_id }) => Number(account_id));
  });
}
