import { randomUUID } from 'node:crypto';
import { freePort } from '@tollgate/stack/ports';
import { withClient } from '@tollgate/stack/postgres';
import { createDatabase } from './database.ts';
import { startRedis } from './redis/redis.ts';
import { startSampleUpstream } from './sample-upstream.ts';
import { becomeReady, serviceCredential, startServiceProcess } from './service-process.ts';
import type { ServiceProcess } from './service-process.ts';

export type Application = { applicationId: number; clientId: string; clientSecret: string };

/** What a customer's program talks to: a gateway before the real auth and account, and the sample API. */
export type Stack = {
  /** Of the gateway. */
  url: string;
  gateway: ServiceProcess;
  auth: ServiceProcess;
  /** Of a new account whose plan has these limits. */
  newApplication: (limits: Readonly<Record<string, number>>, lifespanSec?: number) => Promise<Application>;
  revoke: (application: Application) => Promise<void>;
  /** Of a service's metric, over all its labels. */
  metric: (service: ServiceProcess, name: string) => Promise<number>;
  stop: () => Promise<void>;
};

const operator = Buffer.from(`${serviceCredential.id}:${serviceCredential.secret}`).toString('base64');

/** `docsDirectory`: builds of the books, for account. */
export async function startStack({ docsDirectory }: { docsDirectory?: string } = {}): Promise<Stack> {
  const [database, redis, upstream, authPort, accountPort] = await Promise.all([
    createDatabase(),
    startRedis(),
    startSampleUpstream(),
    freePort(),
    freePort(),
  ]);
  const common = {
    REDIS_URL: redis.url,
    AUTH_PRIVATE_URL: `http://127.0.0.1:${String(authPort)}`,
    ACCOUNT_PRIVATE_URL: `http://127.0.0.1:${String(accountPort)}`,
  };
  const [auth, account] = await Promise.all([
    startServiceProcess('auth', { ...common, PRIVATE_PORT: String(authPort) }),
    startServiceProcess('account', {
      ...common,
      DATABASE_URL: database.url,
      OPERATOR_CREDENTIALS: `${serviceCredential.id}:${serviceCredential.secret}`,
      PRIVATE_PORT: String(accountPort),
      ...(docsDirectory !== undefined && { DOCS_DIR: docsDirectory }),
    }),
  ]);
  const gateway = await startServiceProcess('gateway', {
    ...common,
    AUTH_PUBLIC_URL: auth.publicUrl,
    ACCOUNT_PUBLIC_URL: account.publicUrl,
    UPSTREAM_URL: upstream.url,
    UPSTREAM_WS_URL: upstream.url.replace('http', 'ws'),
    GRAPHQL_SCHEMA: new URL('/schema.graphql', upstream.url).href,
    CORS_ALLOWED_ORIGINS: '*',
  });
  const services = [auth, account, gateway];
  await Promise.all(services.map(becomeReady));

  async function operate(path: string, body: object): Promise<Record<string, unknown>> {
    const response = await fetch(account.privateUrl + path, {
      method: 'POST',
      headers: { authorization: `Basic ${operator}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${String(response.status)}`);
    const text = await response.text();
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  }

  return {
    url: gateway.publicUrl,
    gateway,
    auth,
    newApplication: async (limits, lifespanSec = 3_600) => {
      const made = await operate('/private/applications', {
        account_id: await insertPayer(database.url, limits),
        name: 'Suite',
        type: 'automatic',
        token_lifespan_sec: lifespanSec,
      });
      return {
        applicationId: Number(made['application_id']),
        clientId: String(made['client_id']),
        clientSecret: String(made['client_secret']),
      };
    },
    revoke: async ({ applicationId }) => {
      await operate(`/private/applications/${String(applicationId)}/revoke`, {});
    },
    metric: async ({ privateUrl }, name) => {
      const text = await (await fetch(`${privateUrl}/metrics`)).text();
      const lines = text.split('\n').filter((line) => new RegExp(`^${name}[ {]`).test(line));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
    stop: async () => {
      await Promise.all(services.map((service) => service.stop()));
      await Promise.all([upstream.stop(), redis.stop(), database.drop()]);
    },
  };
}

/** With a billing period of two days around now. */
async function insertPayer(databaseUrl: string, limits: Readonly<Record<string, number>>): Promise<number> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ account_id: string }>(
      `WITH payer AS (
         INSERT INTO accounts (email, name, password_hash) VALUES ($1, 'Someone', 'none') RETURNING account_id
       ), plan AS (
         INSERT INTO plans (name, description, grace_sec) VALUES ($1, $2, 0) RETURNING plan_id
       )
       INSERT INTO billing_periods
         (account_id, plan_id, started_at, ended_at, description, grace_sec, plan_name)
       SELECT account_id, plan_id, date_trunc('second', now() - interval '1 day'),
              date_trunc('second', now() + interval '1 day'), $2, 0, 'Plan'
       FROM payer, plan RETURNING account_id`,
      [`${randomUUID()}@example.com`, JSON.stringify(limits)],
    );
    return Number(rows[0]?.account_id);
  });
}
