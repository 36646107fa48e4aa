import { randomUUID } from 'node:crypto';
import { withClient } from '@tollgate/stack/postgres';
import { eventually, obtainToken, postGraphql, readUsage } from '../caller.ts';
import { openConsole } from '../console-api.ts';
import type { Ask } from '../console-api.ts';
import { startCalls } from '../load/calls.ts';
import type { CallTally, Calls } from '../load/calls.ts';
import { newCustomer } from '../load/customer.ts';
import type { Customer } from '../load/customer.ts';
import { startSockets } from '../load/sockets.ts';
import type { SocketTally } from '../load/sockets.ts';
import { mailedLink } from '../mailed-link.ts';
import { operate } from '../operate.ts';
import type { Demo, DemoApplication } from '../stack/stack.ts';
import type { Installation } from './installation.ts';

export const PASSWORD = 'correct horse battery staple';

const QUERY = '{ country(code: "FI") { name } }';
const COUNTING_TIME_LIMIT_MS = 60_000;
const SOCKETS_OF_GATEWAY = 5;
export const OPEN_SOCKETS = 2 * SOCKETS_OF_GATEWAY;
const RECONNECT_TIME_LIMIT_MS = 60_000;

/** Those whose calls run in each step, by the account that pays. */
export type Payer = 'limited' | 'unlimited' | 'renewing' | 'team';

export type Customers = {
  demo: Demo;
  payers: Record<Payer, { accountId: number; tokens: readonly string[] }>;
  listener: Customer;
  /** Has signed up by the mail, has a session since, and has used up all points of the plan. */
  buyer: Customer & { email: string; ask: Ask };
};

/** So dear that few calls use up a trial. */
const DEAR_QUERY = '{ countries(first: 100) { name languages { name } } }';

export async function makeCustomers(installation: Installation, demo: Demo): Promise<Customers> {
  const limits = {
    points_limit: 50_000_000,
    rate_limit: 60_000,
    session_limit: 60,
    traffic_bytes_limit: 10 ** 12,
  };
  const [limited, unlimited, renewing, listener] = [
    await newCustomer(demo, 'limited', limits),
    await newCustomer(demo, 'unlimited'),
    await newCustomer(demo, 'renewing', limits),
    await newCustomer(demo, 'listener', { subscription_limit: 100, time_sec_limit: 10_000_000 }),
  ];
  const manual = { account_id: demo.account_id, name: 'By hand', type: 'manual', token_lifespan_sec: 86_400 };
  const { application_id } = await operate<{ application_id: number }>(
    demo,
    'POST',
    '/private/applications',
    manual,
  );
  const { access_token } = await operate<{ access_token: string }>(
    demo,
    'POST',
    `/private/applications/${String(application_id)}/tokens`,
    { name: 'By hand' },
  );
  const customers: Customers = {
    demo,
    payers: {
      limited: { accountId: limited.accountId, tokens: [limited.token] },
      unlimited: { accountId: unlimited.accountId, tokens: [unlimited.token] },
      renewing: { accountId: renewing.accountId, tokens: [renewing.token] },
      team: {
        accountId: demo.account_id,
        tokens: [
          await obtainToken(demo, demo.application),
          await obtainToken(demo, demo.member),
          access_token,
        ],
      },
    },
    listener,
    buyer: await signUp(installation, demo),
  };
  // A third of the month has passed.
  for (const { accountId } of [limited, unlimited, listener]) {
    await beginPeriodAt(installation, accountId, "now() - interval '10 days'");
  }
  return customers;
}

async function signUp(installation: Installation, demo: Demo): Promise<Customers['buyer']> {
  const email = `signed-up-${randomUUID()}@example.com`;
  const ask = openConsole({ demo });
  await ask('POST', '/sign-up', { email, name: 'Signed up', password: PASSWORD });
  await finishSignUp(installation, demo, email, ask);
  const { account_id } = await ask('GET', '/session');
  const application = { account_id, name: 'Signed up', type: 'automatic', token_lifespan_sec: 86_400 };
  const client = await operate<DemoApplication>(demo, 'POST', '/private/applications', application);
  const token = await obtainToken(demo, client);
  await eventually(
    () => statusOf(demo, token, DEAR_QUERY),
    (status) => status === 402,
    COUNTING_TIME_LIMIT_MS,
  );
  return { email, ask, accountId: Number(account_id), applicationId: client.application_id, token };
}

/** The link in the mail leads to an account and a session. */
export async function finishSignUp(
  { mails }: Installation,
  demo: Demo,
  email: string,
  ask: Ask,
): Promise<void> {
  const link = new URL(await mailedLink({ stack: () => ({ demo, mails }) }, email, 'verify-email'));
  await ask('POST', '/verify-email', { token: link.searchParams.get('token'), password: PASSWORD });
  await ask('POST', '/session', { email, password: PASSWORD });
}

/** The subscription, and with it the billing period of a month, began at another time, as SQL states it. */
async function beginPeriodAt({ postgresUrl }: Installation, accountId: number, time: string): Promise<void> {
  await withClient(postgresUrl, (client) =>
    client.query(
      `WITH moved AS (
         UPDATE subscriptions SET anchor = began, renews_at = began + interval '1 month'
         FROM (SELECT date_trunc('second', ${time}) AS began) AS times
         WHERE account_id = $1 AND ended_at IS NULL RETURNING subscription_id, anchor, renews_at
       )
       UPDATE billing_periods SET started_at = anchor, ended_at = renews_at - interval '1 second'
       FROM moved WHERE billing_periods.subscription_id = moved.subscription_id`,
      [accountId],
    ),
  );
}

/** The next billing period of one of the customers begins so many seconds from now. */
export async function renewWithin(
  installation: Installation,
  { payers: { renewing } }: Customers,
  seconds: number,
): Promise<void> {
  const time = `now() + interval '${String(seconds)} seconds' - interval '1 month'`;
  await beginPeriodAt(installation, renewing.accountId, time);
}

export async function statusOf(demo: Demo, token: string, query = QUERY): Promise<number> {
  const response = await postGraphql(demo, token, query);
  await response.arrayBuffer();
  return response.status;
}

/** What must be the same before and after: who pays, in which period and with which limits; a session; a new token. */
export async function stateOf({ demo, payers, buyer }: Customers): Promise<unknown> {
  const steady = [payers.limited, payers.unlimited, payers.team].flatMap(({ tokens }) => tokens);
  const { email } = await buyer.ask('GET', '/session');
  return {
    usage: await Promise.all(
      steady.map(async (token) => {
        const { billing_period, ...payer } = await readUsage(demo, token);
        const { usage: _, ...period } = billing_period;
        return { ...payer, period };
      }),
    ),
    signedIn: email,
    newToken: await statusOf(demo, await obtainToken(demo, demo.application)),
  };
}

export type Seen = { calls: Record<Payer, CallTally>; sockets: SocketTally };

/** Calls of all payers through both gateways, and open subscriptions, while something is done. */
export async function underLoad(
  { gatewayUrls }: Installation,
  { payers, listener }: Customers,
  act: () => Promise<void>,
): Promise<Seen> {
  const load = { callers: 2, pauseMs: 100 };
  const calls = Object.entries(payers).flatMap(([payer, { tokens }]) =>
    tokens.flatMap((token) =>
      gatewayUrls.map((url) => ({ payer: payer as Payer, calls: startCalls(`${url}/graphql`, token, load) })),
    ),
  );
  const sockets = gatewayUrls.map((url) =>
    startSockets(`${url}/graphql`.replace('http', 'ws'), listener.token, SOCKETS_OF_GATEWAY),
  );
  const allDeliver = () =>
    eventually(
      () => Promise.resolve(sockets.reduce((sum, each) => sum + each.tally().delivering, 0)),
      (delivering) => delivering === OPEN_SOCKETS,
      RECONNECT_TIME_LIMIT_MS,
    );
  try {
    await allDeliver();
    await act();
    await allDeliver();
  } finally {
    await Promise.all(calls.map(({ calls: each }: { calls: Calls }) => each.stop()));
  }
  const seen = Object.groupBy(calls, ({ payer }) => payer);
  return {
    calls: mapValues(payers, (payer) =>
      sumOfCalls((seen[payer] ?? []).map(({ calls: each }) => each.tally())),
    ),
    sockets: sumOfSockets(sockets.map((each) => each.stop())),
  };
}

function mapValues<T>(of: Record<Payer, unknown>, value: (payer: Payer) => T): Record<Payer, T> {
  return Object.fromEntries((Object.keys(of) as Payer[]).map((payer) => [payer, value(payer)])) as Record<
    Payer,
    T
  >;
}

function sumOfCalls(tallies: readonly CallTally[]): CallTally {
  return tallies.reduce((sum, each) => ({
    answered: sum.answered + each.answered,
    points: sum.points + each.points,
    refused: sumOfCounts(sum.refused, each.refused),
    lost: sumOfCounts(sum.lost, each.lost),
  }));
}

function sumOfSockets(tallies: readonly SocketTally[]): SocketTally {
  return tallies.reduce((sum, each) => ({
    delivering: sum.delivering + each.delivering,
    results: sum.results + each.results,
    points: sum.points + each.points,
    ended: [...sum.ended, ...each.ended],
    closes: sumOfCounts(sum.closes, each.closes),
  }));
}

function sumOfCounts(one: Record<string, number>, other: Record<string, number>): Record<string, number> {
  const sum = { ...one };
  for (const [key, count] of Object.entries(other)) sum[key] = (sum[key] ?? 0) + count;
  return sum;
}

export type Counted = { points: number; requests: number };

/** What account has counted of a payer, in all its periods. */
export async function countedOf({ postgresUrl }: Installation, accountId: number): Promise<Counted> {
  return withClient(postgresUrl, async (client) => {
    const { rows } = await client.query<Record<keyof Counted, string>>(
      `SELECT coalesce(sum(points), 0) AS points, coalesce(sum(requests), 0) AS requests
       FROM usage_totals JOIN billing_periods USING (period_id) WHERE billing_periods.account_id = $1`,
      [accountId],
    );
    return { points: Number(rows[0]?.points), requests: Number(rows[0]?.requests) };
  });
}

/** Waits until a payer's usage is at least this. */
export function countedAtLeast(
  installation: Installation,
  accountId: number,
  least: Counted,
): Promise<Counted> {
  return eventually(
    () => countedOf(installation, accountId),
    ({ points, requests }) => points >= least.points && requests >= least.requests,
    COUNTING_TIME_LIMIT_MS,
  );
}
