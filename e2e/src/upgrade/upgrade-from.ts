import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { StackPlan } from '@tollgate/stack/service-settings';
import { eventually, postGraphql } from '../caller.ts';
import { openConsole } from '../console-api.ts';
import { operate } from '../operate.ts';
import {
  OPEN_SOCKETS,
  PASSWORD,
  countedAtLeast,
  countedOf,
  finishSignUp,
  makeCustomers,
  renewWithin,
  stateOf,
  statusOf,
  underLoad,
} from './customers.ts';
import type { Counted, Customers, Payer } from './customers.ts';
import { REPLICAS, startInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { releaseOf, thisVersion } from './release.ts';
import type { Release } from './release.ts';
import type { Demo } from '../stack/stack.ts';

/**
 * `npm run upgrade-from -- <commit>`: an installation of a released commit, its own code on its own packages, moves to
 * this working copy while customers in mid-period call through two gateways, sells points, moves back, and forward again.
 * Exits with 1 if a call was refused or lost, usage isn't counted exactly once, or a customer's state has changed.
 */
const SETTLED_TIME_LIMIT_MS = 10_000;
/** Longer than a settlement and its counting take. */
const SETTLING_MS = 1_500;
const PACK = { name: '1,000 points', points: 1_000, currency: 'eur', unit_amount: 500 };
const PAYMENT_SECRETS = { secretKey: 'sk_test_123456789012345678901234', webhookSecret: 'whsec_dXBncmFkZQ' };

type Payments = NonNullable<StackPlan['payments']>;

const startedAt = performance.now();
const say = (line: string) => {
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
};
const faults: string[] = [];
const expectThat = (holds: boolean, fault: string) => {
  if (holds) return;
  faults.push(fault);
  say(`FAULT: ${fault}`);
};

const [commit] = process.argv.slice(2);
if (commit === undefined) {
  console.error('Usage: npm run upgrade-from -- <commit>, such as that of the previous release');
  process.exit(1);
}
const [before, now] = [await releaseOf(commit), await thisVersion()];
say(`from ${before.name} to ${now.name}, on Node.js ${process.version}`);
const installation = await startInstallation();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
for (const signal of signals) {
  process.once(signal, () => void installation.stop().finally(() => process.exit(1)));
}
try {
  await run(installation);
  for (const error of installation.errors()) say(`logged: ${error}`);
} finally {
  await installation.stop();
}
say(faults.length === 0 ? 'No fault.' : `${String(faults.length)} faults:\n${faults.join('\n')}`);
process.exitCode = faults.length === 0 ? 0 : 1;

async function run(installed: Installation): Promise<void> {
  const { plan } = installed;
  await installed.migrate(before);
  const demo = await installed.seed(before);
  for (const replica of REPLICAS) await installed.replace(replica, before, plan);
  const customers = await makeCustomers(installed, demo);
  const state = await stateOf(customers);
  say(`customers of ${before.name} are in mid-period`);

  const step = async (name: string, act: () => Promise<void>) => {
    await measured(installed, customers, name, act);
    const present = await stateOf(customers);
    expectThat(
      isDeepStrictEqual(present, state),
      `${name}: ${JSON.stringify(present)} instead of ${JSON.stringify(state)}`,
    );
  };
  const replaceAll = async (release: Release, settings: StackPlan = plan) => {
    for (const replica of REPLICAS) {
      await installed.replace(replica, release, settings);
      say(`  ${replica} is ${release.name}`);
    }
  };

  await step('as it is', () => Promise.resolve());
  const [begun, email] = [openConsole({ demo }), `begun-${randomUUID()}@example.com`];
  await begun('POST', '/sign-up', { email, name: 'Begun', password: PASSWORD });
  await step('forward', async () => {
    await installed.migrate(now);
    say('  the schema is updated');
    await renewWithin(installed, customers, 5);
    await replaceAll(now);
  });
  await finishSignUp(installed, demo, email, begun);
  const payments = await startPayments(installed);
  await measured(installed, customers, 'payments are set', () => replaceAll(now, { ...plan, payments }));
  await sell(customers);
  const [late, lateEmail] = [openConsole({ demo }), `late-${randomUUID()}@example.com`];
  await late('POST', '/sign-up', { email: lateEmail, name: 'Late' });
  await step('back', () => replaceAll(before));
  // It asks for a password that was chosen before the mail.
  const isFinished = await finishSignUp(installed, demo, lateEmail, late).then(
    () => true,
    () => false,
  );
  expectThat(!isFinished, 'back: a sign-up of this version is finished');
  // The former version knows no points but the plan's; what this one has kept for its gateways holds for five minutes.
  say(
    `back: a call that a pack pays for is answered with ${String(await statusOf(demo, customers.buyer.token))}`,
  );
  await step('forward again', () => replaceAll(now, { ...plan, payments }));
  await finishSignUp(installed, demo, lateEmail, late);
  await expectCall(customers, 200, 'forward again, with what is left of the pack');
  await checkCredits(demo);
}

/** The call of the one who has used up the plan's points. */
async function expectCall({ demo, buyer }: Customers, status: number, when: string): Promise<void> {
  const answered = await statusOf(demo, buyer.token);
  expectThat(
    answered === status,
    `${when}: a call of the buyer's is ${String(answered)}, not ${String(status)}`,
  );
}

/** Does something while customers call, and holds what was counted against what was answered. */
async function measured(
  installed: Installation,
  customers: Customers,
  name: string,
  act: () => Promise<void>,
): Promise<void> {
  const payers = Object.entries(customers.payers) as [Payer, { accountId: number }][];
  const before = new Map(
    await Promise.all(
      payers.map(async ([payer, { accountId }]) => [payer, await settledOf(installed, accountId)] as const),
    ),
  );
  const heard = await settledOf(installed, customers.listener.accountId);
  const { calls, sockets } = await underLoad(installed, customers, act);
  say(`${name}:`);
  for (const [payer, { accountId }] of payers) {
    const { answered, points, refused, lost } = calls[payer];
    const { points: formerPoints, requests: formerRequests } = before.get(payer) ?? {
      points: 0,
      requests: 0,
    };
    const wanted = { points: formerPoints + points, requests: formerRequests + answered };
    const counted = await countedAtLeast(installed, accountId, wanted).catch(() =>
      countedOf(installed, accountId),
    );
    say(`  ${payer}: ${String(answered)} calls answered, ${String(points)} points`);
    expectThat(
      isDeepStrictEqual({ refused, lost }, { refused: {}, lost: {} }),
      `${name}, ${payer}: ${JSON.stringify({ refused, lost })}`,
    );
    expectThat(
      isDeepStrictEqual(counted, wanted),
      `${name}, ${payer}: counted ${JSON.stringify(counted)}, not ${JSON.stringify(wanted)}`,
    );
  }
  const { results, points, closes, ended } = sockets;
  say(`  listener: ${String(results)} results, closed with ${JSON.stringify(closes)}`);
  expectThat(ended.length === 0, `${name}, sockets: ${ended.join(', ')}`);
  const { 1012: restarts = 0, 1013: later = 0, ...others } = closes;
  expectThat(Object.keys(others).length === 0, `${name}, sockets: closed with ${JSON.stringify(others)}`);
  const price = points / results;
  const least = { points: heard.points + points, requests: heard.requests };
  await countedAtLeast(installed, customers.listener.accountId, least).catch(() => undefined);
  const listened = await settledOf(installed, customers.listener.accountId);
  // A result may have been on its way when its socket closed.
  const most = least.points + price * (OPEN_SOCKETS + restarts + later);
  expectThat(
    listened.points >= least.points && listened.points <= most,
    `${name}, sockets: counted ${String(listened.points)}, not ${String(least.points)} to ${String(most)}`,
  );
}

/** What is counted once nothing more comes. */
async function settledOf(installed: Installation, accountId: number): Promise<Counted> {
  for (let last = await countedOf(installed, accountId); ;) {
    await delay(SETTLING_MS);
    const next = await countedOf(installed, accountId);
    if (isDeepStrictEqual(next, last)) return next;
    last = next;
  }
}

/** As operators do once all services are of the version that knows payments. */
async function startPayments({ gatewayUrls, startSample }: Installation): Promise<Payments> {
  const [gateway] = gatewayUrls;
  const url = await startSample('payments', {
    SECRET_KEY: PAYMENT_SECRETS.secretKey,
    WEBHOOK_URL: `${gateway}/payments/stripe/events`,
    WEBHOOK_SECRET: PAYMENT_SECRETS.webhookSecret,
  });
  return { url, ...PAYMENT_SECRETS };
}

/** Without points calls are refused; with a pack the next one passes, until a budget is used up. */
async function sell(customers: Customers): Promise<void> {
  const { demo, buyer } = customers;
  await expectCall(customers, 402, 'before a pack is bought');
  const { pack_id } = await operate<{ pack_id: number }>(demo, 'POST', '/private/packs', PACK);
  const { checkout_url } = await buyer.ask('POST', '/purchases', { pack_id, quantity: 1 });
  const form = { method: 'POST', body: new URLSearchParams({ payment_method: 'pm_card_visa' }) };
  await fetch(String(checkout_url), { ...form, redirect: 'manual' });
  await eventually(
    () => statusOf(demo, buyer.token),
    (status) => status === 200,
    SETTLED_TIME_LIMIT_MS,
  );
  say('a pack is bought, and the next call passes');
  const budget = `/private/applications/${String(buyer.applicationId)}/budget`;
  await operate(demo, 'PUT', budget, { points_per_period: 1, points_per_day: null });
  await eventually(
    () => codeOf(demo, buyer.token),
    (code) => code === 'budget_exceeded',
    SETTLED_TIME_LIMIT_MS,
  );
  await operate(demo, 'PUT', budget, { points_per_period: null, points_per_day: null });
  await eventually(
    () => statusOf(demo, buyer.token),
    (status) => status === 200,
    SETTLED_TIME_LIMIT_MS,
  );
  say('a budget refuses calls, and removed refuses none');
}

async function codeOf(demo: Demo, token: string): Promise<string | undefined> {
  const response = await postGraphql(demo, token, '{ continents { name } }');
  const { errors } = (await response.json()) as { errors?: { extensions?: { code?: string } }[] };
  return errors?.[0]?.extensions?.code;
}

/** The ledger is what its history says. */
async function checkCredits(demo: Demo): Promise<void> {
  const { differences } = await operate<{ differences: unknown[] }>(
    demo,
    'POST',
    '/private/credit-checks',
    {},
  );
  expectThat(differences.length === 0, `credits differ: ${JSON.stringify(differences)}`);
}
