import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { SAMPLE_SECRET_KEY } from '@tollgate/testbed/payments/sample-payments';
import { grantNow } from '../../../test/suite/credits.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import {
  POINTS,
  buy,
  leaveTest,
  newBuyer,
  newPack,
  quiet,
  sessionOf,
  startPaidAccount,
} from '../../../test/suite/payments.ts';
import type { Buyer, PaidAccount } from '../../../test/suite/payments.ts';
import { mailsTo } from '../../../test/suite/people.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';
import { appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';

let suite: PaidAccount;

beforeAll(async () => {
  suite = await startPaidAccount();
});

afterAll(() => suite.close());

afterEach(async () => {
  await suite.payments.post('/sample/outage', { on: 'false' });
  await leaveTest(suite);
});

const PRICE = 1_900;

type Choice = { pack_id: number; threshold_points: number; max_times: number; max_amount: number };
type Holder = Buyer & { choice: Choice };

/** On the portal's page. */
async function useCard({ browser }: Buyer, payment_method: string): Promise<void> {
  const { body } = await browser.request('POST', '/payments/portal');
  await fetch(String(body['url']), { method: 'POST', body: new URLSearchParams({ payment_method }) });
}

/** A plan of 100 points, of which fewer than 50 buy a pack. */
async function newHolder(card: string | null, changes: Partial<Choice> = {}): Promise<Holder> {
  const [buyer, pack_id] = [await newBuyer(suite), await newPack(suite)];
  if (card !== null) await useCard(buyer, card);
  const choice = { pack_id, threshold_points: 50, max_times: 3, max_amount: 10 * PRICE, ...changes };
  return { ...buyer, choice };
}

async function switchOn({ browser, choice }: Holder): Promise<void> {
  const { status, text } = await browser.request('PUT', '/top-up', choice);
  if (status !== 200) throw new Error(text);
}

async function use({ account_id, period_id }: Buyer, points: number): Promise<void> {
  await appendBatch(suite.store, [usageEvent({ account_id, payer_id: account_id, period_id, points })]);
}

type Shown = { state: string; decline_code: string | null; points: number };

async function attemptsOf({ browser }: Buyer): Promise<Shown[]> {
  return (await browser.request('GET', '/top-ups')).body['top_ups'] as Shown[];
}

async function settingsOf({ browser }: Buyer): Promise<Record<string, unknown>> {
  return (await browser.request('GET', '/top-up')).body['top_up'] as Record<string, unknown>;
}

/** Until its attempts, newest first, are in these states. */
async function attempted(holder: Buyer, ...states: string[]): Promise<void> {
  await waitFor(
    async () => {
      const shown = (await attemptsOf(holder)).map(({ state }) => state);
      return shown.join(' ') === states.join(' ');
    },
    { what: `top-ups to be ${states.join(', ')}` },
  );
}

function grantsOf({ account_id }: Buyer): Promise<number[]> {
  return suite.database('credit_grants').where({ account_id }).pluck<number[]>('points');
}

type Intent = { id: string; status: string; amount: number; metadata: Record<string, string> };

async function stripeOf(path: string): Promise<unknown> {
  const response = await fetch(`${suite.payments.url}/v1${path}`, {
    headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
  });
  return response.json();
}

/** At the provider, of the account's top-ups. */
async function intentsOf({ account_id }: Buyer): Promise<Intent[]> {
  const { data } = (await stripeOf('/payment_intents?limit=100')) as { data: Intent[] };
  return data.filter(
    ({ metadata }) =>
      metadata['tollgate_top_up'] !== undefined && metadata['account_id'] === String(account_id),
  );
}

/** A payment as it is made for a top-up. */
function intentOf({ account_id, choice }: Holder, tollgate_top_up: string): Record<string, string> {
  const metadata = {
    tollgate_top_up,
    account_id: String(account_id),
    pack_id: String(choice.pack_id),
    pack_name: '10,000 points',
    points: String(POINTS),
    currency: 'eur',
    amount: String(PRICE),
    expires_after_days: 'never',
  };
  const fields = Object.entries(metadata).map(([name, value]) => [`metadata[${name}]`, value] as const);
  const payment = { amount: String(PRICE), currency: 'eur', payment_method: 'pm_card_visa' };
  return { ...payment, ...Object.fromEntries(fields) };
}

const statesOf = async (holder: Buyer) => (await intentsOf(holder)).map(({ status }) => status);

/** Sent, or to be sent. */
async function mailsOf({ account_id, email }: Buyer): Promise<number> {
  const subject = 'Your automatic top-up failed';
  const isSent = async () => (await suite.database('mail_outbox').where({ account_id })).length === 0;
  await waitFor(isSent, { what: 'mails to be sent' });
  return mailsTo(suite.mailDirectory, email).filter((mail) => mail.subject.includes(subject)).length;
}

/** As if an hour had passed, or a month. */
async function passTime({ account_id }: Buyer): Promise<void> {
  const now = new Date();
  await suite
    .database('top_up_settings')
    .where({ account_id })
    .update({ not_before: now, next_check_at: now });
}

describe('with few points left', () => {
  test('the pack is bought once, and its points are granted', async () => {
    const holder = await newHolder('pm_card_visa');
    await switchOn(holder);
    await use(holder, 40);
    await use(holder, 11);
    await attempted(holder, 'paid');
    expect(await grantsOf(holder)).toEqual([POINTS]);
    expect(await statesOf(holder)).toEqual(['succeeded']);
    const { body } = await operatePath(
      suite.account,
      'GET',
      `/private/top-ups?account_id=${String(holder.account_id)}`,
    );
    const purchases = await operatePath(
      suite.account,
      'GET',
      `/private/purchases?account_id=${String(holder.account_id)}`,
    );
    const [purchase] = purchases.body['purchases'] as { purchase_id: number; payment_id: string }[];
    expect(body['top_ups']).toMatchObject([{ state: 'paid', purchase_id: purchase?.purchase_id }]);
    // Its refund is that of any purchase.
    await suite.payments.post('/v1/refunds', { payment_intent: purchase?.payment_id ?? '' });
    const reversals = () =>
      suite
        .database('purchase_reversals')
        .where({ purchase_id: purchase?.purchase_id })
        .pluck<number[]>('target_points');
    await waitFor(async () => (await reversals()).length > 0, { what: 'the refund to be applied' });
    expect(await reversals()).toEqual([POINTS]);
  });

  test('a pack that is smaller than the threshold is bought until there are enough', async () => {
    const holder = await newHolder('pm_card_visa', {
      pack_id: await newPack(suite, { points: 30 }),
      threshold_points: 120,
    });
    await switchOn(holder);
    await attempted(holder, 'paid');
    expect(await grantsOf(holder)).toEqual([30]);
    await use(holder, 20);
    await attempted(holder, 'paid', 'paid');
  });

  test('nothing is bought while a purchase is on its way', async () => {
    const holder = await newHolder('pm_card_visa');
    const bought = await buy(holder, holder.choice.pack_id);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`, {
      payment_method: 'pm_sepa_debit',
    });
    await waitFor(
      async () =>
        (await suite.database('purchases').where({ purchase_id: bought.purchase_id, state: 'processing' }))
          .length > 0,
    );
    await switchOn(holder);
    await use(holder, 90);
    await checked(holder);
    expect(await attemptsOf(holder)).toEqual([]);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/settle`, { outcome: 'failed' });
    await quiet(suite);
    await passTime(holder);
    await attempted(holder, 'paid');
  });

  test('a debit that is on its way counts', async () => {
    const holder = await newHolder('pm_sepa_debit');
    await switchOn(holder);
    await use(holder, 90);
    await attempted(holder, 'pending');
    await use(holder, 5);
    await checked(holder);
    await attempted(holder, 'pending');
    expect(await grantsOf(holder)).toEqual([]);
  });

  test('no more is bought than the limits of a month allow', async () => {
    const holder = await newHolder('pm_card_visa', {
      pack_id: await newPack(suite, { points: 1 }),
      threshold_points: 1_000,
      max_times: 5,
      max_amount: 2 * PRICE + 1_899,
    });
    await switchOn(holder);
    await attempted(holder, 'paid', 'paid');
    await passTime(holder);
    await checked(holder);
    expect(await statesOf(holder)).toEqual(['succeeded', 'succeeded']);
    expect(await settingsOf(holder)).toMatchObject({ times: 2, amount: 2 * PRICE });
    const { not_before } = await settingsOf(holder);
    expect(String(not_before)).toMatch(/-01T00:00:00/);
    const { account_id } = holder;
    const lastMonth = suite.database.raw(
      `date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '1 millisecond'`,
    );
    // What was begun in the month before and charged in this one counts.
    await suite.database('top_ups').where({ account_id }).update({ created_at: lastMonth });
    await passTime(holder);
    await checked(holder);
    expect(await settingsOf(holder)).toMatchObject({ times: 2, amount: 2 * PRICE });
    expect(await statesOf(holder)).toEqual(['succeeded', 'succeeded']);
    // The month before doesn't.
    await suite.database('top_ups').where({ account_id }).update({ decided_at: lastMonth });
    await passTime(holder);
    await attempted(holder, 'paid', 'paid', 'paid', 'paid');
  });

  test.each(['a member of a team', 'a blocked account'])('%s buys nothing', async (who) => {
    const holder = await newHolder('pm_card_visa');
    await switchOn(holder);
    if (who === 'a blocked account') {
      await operatePath(suite.account, 'POST', `/private/accounts/${String(holder.account_id)}/block`);
    } else {
      const manager = await newBuyer(suite);
      await makeTeam(manager);
      await joinTeam(manager, holder);
    }
    await use(holder, 90);
    await passTime(holder);
    await checked(holder);
    expect(await attemptsOf(holder)).toEqual([]);
  });

  test('the points that credits add count', async () => {
    const holder = await newHolder('pm_card_visa');
    await switchOn(holder);
    await grantNow(suite, holder.account_id, { points: 1_000 });
    await use(holder, 99);
    await passTime(holder);
    await checked(holder);
    expect(await attemptsOf(holder)).toEqual([]);
  });
});

/** It was looked at, and nothing is asked for any more. */
async function checked({ account_id }: Buyer): Promise<void> {
  await waitFor(
    async () => {
      const asked = await suite.database('top_up_checks').where({ account_id });
      const due = await suite
        .database('top_up_settings')
        .where({ account_id })
        .andWhere('next_check_at', '<=', suite.database.fn.now());
      return asked.length === 0 && due.length === 0;
    },
    { what: 'the account to be looked at' },
  );
}

describe('a declined card', () => {
  test('is told at the first time, is tried again, and pauses after the third', async () => {
    const holder = await newHolder('pm_card_chargeCustomerFail');
    await switchOn(holder);
    await use(holder, 90);
    await attempted(holder, 'declined');
    expect(await mailsOf(holder)).toBe(1);
    await use(holder, 1);
    await checked(holder);
    await attempted(holder, 'declined');
    await passTime(holder);
    await attempted(holder, 'declined', 'declined');
    expect(await mailsOf(holder)).toBe(1);
    await passTime(holder);
    await attempted(holder, 'declined', 'declined', 'declined');
    expect(await settingsOf(holder)).toMatchObject({ is_on: true, paused_for: 'declined' });
    expect(await mailsOf(holder)).toBe(2);
    // None of them can be paid any more.
    expect(await statesOf(holder)).toEqual(['canceled', 'canceled', 'canceled']);
    await passTime(holder);
    await checked(holder);
    await attempted(holder, 'declined', 'declined', 'declined');
  });

  test.each([
    ['LostCard', 'lost_card'],
    ['StolenCard', 'stolen_card'],
    ['Fraudulent', 'fraudulent'],
  ])('that is refused by %s pauses at once', async (card, code) => {
    const holder = await newHolder(`pm_card_visa_chargeDeclined${card}`);
    await switchOn(holder);
    await use(holder, 90);
    await attempted(holder, 'declined');
    expect(await attemptsOf(holder)).toMatchObject([{ decline_code: code }]);
    expect(await settingsOf(holder)).toMatchObject({ paused_for: code });
    expect(await mailsOf(holder)).toBe(1);
  });

  test('resumes with another one', async () => {
    const holder = await newHolder('pm_card_authenticationRequired');
    await switchOn(holder);
    await use(holder, 90);
    await attempted(holder, 'declined');
    // The same settings again change nothing about the card.
    await switchOn(holder);
    expect(await settingsOf(holder)).toMatchObject({ paused_for: 'authentication_required' });
    await useCard(holder, 'pm_card_visa');
    await attempted(holder, 'paid', 'declined');
    expect(await settingsOf(holder)).toMatchObject({ paused_for: null, not_before: null });
  });

  test('resumes with a purchase', async () => {
    const holder = await newHolder('pm_card_visa_chargeDeclinedLostCard');
    await switchOn(holder);
    await use(holder, 90);
    await attempted(holder, 'declined');
    const bought = await buy(holder, holder.choice.pack_id);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    await waitFor(async () => (await settingsOf(holder))['paused_for'] === null);
  });
});

describe('an outage of the provider', () => {
  test('is no decline, and the pack is bought once when it is over', async () => {
    const holder = await newHolder('pm_card_visa');
    await switchOn(holder);
    await suite.payments.post('/sample/outage', { on: 'true' });
    await use(holder, 90);
    await waitFor(
      async () =>
        (
          await suite
            .database('top_ups')
            .where({ account_id: holder.account_id })
            .andWhere('attempts', '>', 0)
        ).length > 0,
      { what: 'an attempt to fail' },
    );
    await suite.payments.post('/sample/outage', { on: 'false' });
    await attempted(holder, 'paid');
    expect(await statesOf(holder)).toEqual(['succeeded']);
    expect(await mailsOf(holder)).toBe(0);
  });

  test('of a day, after which Stripe has forgotten our request, makes no second payment', async () => {
    const holder = await newHolder('pm_card_visa');
    await switchOn(holder);
    await suite.payments.post('/sample/outage', { on: 'true' });
    await use(holder, 90);
    const { account_id } = holder;
    const row = () =>
      suite.database('top_ups').where({ account_id }).first<{ top_up_key: string } | undefined>();
    const { top_up_key } = await waitFor(row, { what: 'an attempt' });
    const pending = suite.database('top_ups').where({ account_id, state: 'open' });
    const [nowMs, hourMs] = [Date.now(), 3_600_000];
    const waiting = {
      created_at: new Date(nowMs - 21 * hourMs),
      next_attempt_at: new Date(nowMs + hourMs),
    };
    // Not while an attempt has it, whose lease is of a minute.
    const isIdle = "next_attempt_at BETWEEN clock_timestamp() AND clock_timestamp() + interval '30 seconds'";
    await waitFor(async () => (await pending.clone().whereRaw(isIdle).update(waiting)) === 1, {
      what: 'an attempt to wait',
    });
    await suite.payments.post('/sample/outage', { on: 'false' });
    const { customer_id } = await suite
      .database('stripe_customers')
      .where({ account_id })
      .first<{ customer_id: string }>();
    const { invoice_settings } = (await stripeOf(`/customers/${customer_id}`)) as {
      invoice_settings: { default_payment_method: string };
    };
    const payment_method = invoice_settings.default_payment_method;
    const made = await suite.payments.post('/v1/payment_intents', {
      ...intentOf(holder, top_up_key),
      customer: customer_id,
      payment_method,
    });
    await pending.clone().update({ next_attempt_at: new Date(nowMs) });
    await attempted(holder, 'paid');
    expect(await intentsOf(holder)).toMatchObject([{ id: made['id'], status: 'succeeded' }]);
  });
});

describe('switched off', () => {
  test('nothing is charged any more when it is answered', async () => {
    const holder = await newHolder('pm_card_visa');
    await switchOn(holder);
    await use(holder, 90);
    // It may be answered with 503 while a slow machine cancels a payment.
    await waitFor(async () => (await holder.browser.request('POST', '/top-up/stop')).status === 200);
    const before = await statesOf(holder);
    await use(holder, 5);
    await passTime(holder);
    await waitFor(
      async () =>
        (await suite.database('top_ups').where({ account_id: holder.account_id }).whereNull('decided_at'))
          .length === 0,
    );
    expect((await statesOf(holder)).filter((state) => state === 'succeeded')).toEqual(
      before.filter((state) => state === 'succeeded'),
    );
    expect(await settingsOf(holder)).toMatchObject({ is_on: false });
  });

  test('a payment that may be under way is canceled before the answer', async () => {
    const holder = await newHolder('pm_card_visa');
    await switchOn(holder);
    await suite.payments.post('/sample/outage', { on: 'true' });
    await use(holder, 90);
    const { account_id } = holder;
    const pending = () =>
      suite.database('top_ups').where({ account_id }).first<{ top_up_key: string } | undefined>();
    await waitFor(async () => (await pending()) !== undefined);
    await suite.payments.post('/sample/outage', { on: 'false' });
    // As it is if the process dies between its row and the confirmation.
    const { top_up_key } = (await pending()) ?? { top_up_key: '' };
    const made = await suite.payments.post('/v1/payment_intents', intentOf(holder, top_up_key));
    await suite
      .database('top_ups')
      .where({ account_id, state: 'open' })
      .update({
        state: 'confirming',
        payment_id: String(made['id']),
        next_attempt_at: new Date(Date.now() + 3_600_000),
      });
    await suite.payments.post('/sample/outage', { on: 'true' });
    expect((await holder.browser.request('POST', '/top-up/stop')).status).toBe(503);
    await suite.payments.post('/sample/outage', { on: 'false' });
    expect((await holder.browser.request('POST', '/top-up/stop')).status).toBe(200);
    expect((await statesOf(holder)).includes('succeeded')).toBe(false);
    await attempted(holder, 'canceled');
  });
});

describe('switching on', () => {
  test.each([
    ['without a card', 409, 'no_payment_method', {}],
    ['with a limit below the price', 400, 'invalid_request', { max_amount: PRICE - 1 }],
    ['with a pack that there is not', 409, 'pack_not_offered', { pack_id: 999_999 }],
    ['with a threshold of 0', 400, 'invalid_request', { threshold_points: 0 }],
  ])('%s is refused', async (what, status, code, changes) => {
    const { browser, choice } = await newHolder(what === 'without a card' ? null : 'pm_card_visa', changes);
    const answer = await browser.request('PUT', '/top-up', choice);
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
  });

  test('is recorded', async () => {
    const holder = await newHolder('pm_card_visa');
    await switchOn(holder);
    const { account_id } = holder;
    const entries = await suite.database('audit_log').where({ account_id, action: 'top_up_set' });
    expect(entries).toMatchObject([{ details: { is_on: true, threshold_points: 50 } }]);
  });
});

test('a pack that is withdrawn pauses it', async () => {
  const holder = await newHolder('pm_card_visa');
  await switchOn(holder);
  await operatePath(suite.account, 'POST', `/private/packs/${String(holder.choice.pack_id)}/withdraw`);
  await use(holder, 90);
  await waitFor(async () => (await settingsOf(holder))['paused_for'] === 'pack_withdrawn');
  expect(await attemptsOf(holder)).toEqual([]);
});

/** What was paid of an account's top-ups. */
const amountsOf = async (holder: Buyer) => (await intentsOf(holder)).map(({ amount }) => amount);

test('a top-up charges the price of the pack alone, whether that includes the tax or not', async () => {
  for (const tax_behavior of ['exclusive', 'inclusive']) {
    const holder = await newHolder('pm_card_visa', { pack_id: await newPack(suite, { tax_behavior }) });
    await switchOn(holder);
    await use(holder, 90);
    await attempted(holder, 'paid');
    expect([tax_behavior, await amountsOf(holder)]).toEqual([tax_behavior, [PRICE]]);
  }
});

test('with STRIPE_TAX, only packs whose price includes the tax: also those that were chosen before', async () => {
  const inclusive = await newPack(suite, { tax_behavior: 'inclusive' });
  const before = await newHolder('pm_card_visa', {
    pack_id: await newPack(suite, { tax_behavior: 'exclusive' }),
  });
  await switchOn(before);
  await suite.account.stop();
  await suite.account.restart({ STRIPE_TAX: 'automatic' });
  try {
    const { body, status } = await before.browser.request('PUT', '/top-up', before.choice);
    expect([status, body]).toMatchObject([
      400,
      { errors: [{ field: 'pack_id', message: 'is sold plus tax, which a top-up does not charge' }] },
    ]);
    await use(before, 90);
    await waitFor(async () => (await settingsOf(before))['paused_for'] === 'pack_withdrawn');
    expect(await attemptsOf(before)).toEqual([]);
    await switchOn({ ...before, choice: { ...before.choice, pack_id: inclusive } });
    await attempted(before, 'paid');
    expect(await amountsOf(before)).toEqual([PRICE]);
  } finally {
    await suite.account.stop();
    await suite.account.restart();
  }
});

test('after a restore of Postgres nothing is charged until payments are reconciled since then', async () => {
  const holder = await newHolder('pm_card_visa', { max_times: 1 });
  await switchOn(holder);
  await suite.database('usage_restores').insert({ stream: 'a stream' });
  await suite.database('usage_restores').delete();
  // One that the backup doesn't have, and that was paid.
  await suite.payments.post('/sample/deliveries', { hold: 'true' });
  await suite.payments.post('/v1/payment_intents', { ...intentOf(holder, randomUUID()), confirm: 'true' });
  await use(holder, 90);
  expect(
    (await operatePath(suite.account, 'POST', '/private/payments/reconcile', { dry_run: true })).status,
  ).toBe(200);
  expect(await suite.database('payment_restores')).toHaveLength(1);
  expect(await attemptsOf(holder)).toEqual([]);
  const since = `${new Date(Date.now() - 3_600_000).toISOString().slice(0, 19)}Z`;
  const { status, body } = await operatePath(suite.account, 'POST', '/private/payments/reconcile', { since });
  expect([status, body['failed']]).toEqual([200, 0]);
  expect(await suite.database('payment_restores')).toHaveLength(0);
  await checked(holder);
  expect(await attemptsOf(holder)).toMatchObject([{ state: 'paid' }]);
  expect(await grantsOf(holder)).toEqual([POINTS]);
  expect(await statesOf(holder)).toEqual(['succeeded']);
});

test('kill -9 at any moment of an attempt charges and grants once', async () => {
  for (const state of ['open', 'confirming', 'paid']) {
    const holder = await newHolder('pm_card_visa');
    await switchOn(holder);
    const { account_id } = holder;
    await suite.payments.post('/sample/deliveries', { hold: 'true' });
    await use(holder, 90);
    await waitFor(
      async () => {
        const rows = await suite.database('top_ups').where({ account_id }).pluck<string[]>('state');
        return rows.some((now) => now === state || now === 'paid');
      },
      { intervalMs: 1 },
    );
    await suite.account.kill();
    await suite
      .database('top_ups')
      .where({ account_id })
      .whereNotNull('next_attempt_at')
      .update({ next_attempt_at: new Date() });
    await suite.account.restart();
    await leaveTest(suite);
    await attempted(holder, 'paid');
    expect([state, await statesOf(holder)]).toEqual([state, ['succeeded']]);
    expect(await grantsOf(holder)).toEqual([POINTS]);
  }
});

test('Stripe would have taken all of it', () => {
  expect(suite.faults()).toEqual([]);
});

test('a check waits for no erasure of its account, and the checks of other accounts for neither', async () => {
  const [{ account_id }, other] = [await newBuyer(suite), await newBuyer(suite)];
  const checksOf = (id: number) => suite.database('top_up_checks').where({ account_id: id });
  await suite.database.transaction(async (erasure) => {
    await erasure('accounts').where({ account_id }).forNoKeyUpdate().first();
    await suite.database('top_up_checks').insert({ account_id });
    await suite.database('top_up_checks').insert({ account_id: other.account_id });
    await waitFor(async () => (await checksOf(other.account_id)).length === 0);
    expect(await checksOf(account_id)).toHaveLength(1);
    await erasure('top_up_checks').where({ account_id }).delete();
  });
  expect(await checksOf(account_id)).toEqual([]);
});
