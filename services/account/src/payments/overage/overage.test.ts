import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { SAMPLE_SECRET_KEY } from '@tollgate/testbed/payments/sample-payments';
import { cutsResolved, endPeriod, grantNow, periodClosed } from '../../../test/suite/credits.ts';
import { leaveTest, newBuyer, startPaidAccount } from '../../../test/suite/payments.ts';
import type { Buyer, PaidAccount } from '../../../test/suite/payments.ts';
import { insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import { appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';

let suite: PaidAccount;

beforeAll(async () => {
  suite = await startPaidAccount({ CLOSING_DELAY_SEC: '0' });
});

afterAll(() => suite.close());

afterEach(async () => {
  await suite.payments.post('/sample/outage', { on: 'false' });
  await leaveTest(suite);
});

/** 100 points, and further ones at €5 for 1,000. */
const PRICE = { price_per_1000: 500, currency: 'eur' };
const PLAN = { points_limit: 100, overage: PRICE };

type Shown = Record<string, unknown>;

async function newCustomer(description: Record<string, unknown> = PLAN): Promise<Buyer> {
  const buyer = await newBuyer(suite, description);
  const { body } = await buyer.browser.request('POST', '/payments/portal');
  await fetch(String(body['url']), {
    method: 'POST',
    body: new URLSearchParams({ payment_method: 'pm_card_visa' }),
  });
  return buyer;
}

const put = ({ browser }: Buyer, choice: Record<string, unknown>) =>
  browser.request('PUT', '/overage', choice);

async function agree(buyer: Buyer, cap_points: number): Promise<Shown> {
  const { status, text, body } = await put(buyer, { cap_points, ...PRICE });
  if (status !== 200) throw new Error(text);
  return body['overage'] as Shown;
}

async function shown({ browser }: Buyer): Promise<Shown> {
  return (await browser.request('GET', '/overage')).body['overage'] as Shown;
}

const creditsOf = async ({ browser }: Buyer) =>
  (await browser.request('GET', '/credits')).body['credits'] as Shown;

async function use({ account_id, period_id }: Buyer, points: number): Promise<void> {
  await appendBatch(suite.store, [usageEvent({ account_id, payer_id: account_id, period_id, points })]);
}

const counted = ({ period_id }: Buyer, points: number) =>
  waitFor(async () => (await suite.database('usage_totals').where({ period_id, points })).length === 1, {
    what: 'usage to be counted',
  });

async function limitOf({ account_id }: Buyer): Promise<unknown> {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(account_id)}`);
  const { billing_period } = (await response.json()) as { billing_period: { limits: Shown } };
  return billing_period.limits['points_limit'];
}

/** What gateways are told of the account's grants from the present instant on. */
async function usable(accountId: number): Promise<number> {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(accountId)}`);
  const { billing_period } = (await response.json()) as {
    billing_period: { credits: { grants: { points: number; until_ms: number | null }[] } };
  };
  return billing_period.credits.grants
    .filter(({ until_ms }) => until_ms === null || until_ms > Date.now())
    .reduce((sum, { points }) => sum + points, 0);
}

/** As after a repair. */
async function resume(): Promise<void> {
  await suite.database('usage_restores').delete();
  await suite.database('payment_restores').delete();
}

async function checkOf(account_id: number): Promise<unknown> {
  const { body } = await operatePath(suite.account, 'POST', '/private/credit-checks', { account_id });
  return body['differences'];
}

const limitBecomes = (buyer: Buyer, points: number) =>
  waitFor(async () => (await limitOf(buyer)) === points, { what: `the limit to be ${String(points)}` });

/** Closed as all is counted. */
async function close(buyer: Buyer): Promise<void> {
  await endPeriod(suite, buyer.period_id);
  await periodClosed(suite, buyer.period_id);
}

type Item = { amount: number; currency: string; invoice: string | null; metadata: Record<string, string> };

/** At the provider. */
async function itemsOf({ account_id }: Buyer): Promise<Item[]> {
  const response = await fetch(`${suite.payments.url}/v1/invoiceitems?limit=100`, {
    headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
  });
  const { data } = (await response.json()) as { data: Item[] };
  return data.filter(({ metadata }) => metadata['account_id'] === String(account_id));
}

/** Until nothing is left to be looked at or charged. */
const settled = ({ account_id }: Buyer) =>
  waitFor(
    async () => {
      const checks = await suite.database('overage_checks').where({ account_id });
      const open = await suite
        .database('overage_charges')
        .where({ account_id })
        .whereNotNull('next_attempt_at');
      return checks.length === 0 && open.length === 0;
    },
    { what: 'charges to be made' },
  );

/** Until these amounts are charged, the first one first. */
async function charged(buyer: Buyer, ...amounts: number[]): Promise<void> {
  await waitFor(
    async () => {
      const found = (await itemsOf(buyer)).map(({ amount }) => amount).toReversed();
      return found.join(' ') === amounts.join(' ');
    },
    { what: `the amounts ${amounts.join(', ')} to be charged` },
  );
}

test('further points raise the limit at once, are used after credits, and are charged at the closing', async () => {
  const buyer = await newCustomer();
  expect(await shown(buyer)).toMatchObject({ offer: { ...PRICE, decimals: 2 }, cap_points: 0 });
  await grantNow(suite, buyer.account_id, { points: 50, priority: 100 });
  expect(await agree(buyer, 1_000)).toMatchObject({ cap_points: 1_000, points_used: 0, max_amount: 500 });
  await limitBecomes(buyer, 1_150);
  expect(await creditsOf(buyer)).toMatchObject({
    points_remaining: 50,
    overage_points_remaining: 1_000,
    grants: [{ source: 'promotion', points_remaining: 50 }],
  });
  const audited = await suite
    .database('audit_log')
    .where({ account_id: buyer.account_id, action: 'overage_set' });
  expect(audited).toMatchObject([{ details: { cap_points: 1_000, ...PRICE } }]);
  await use(buyer, 363);
  await counted(buyer, 363);
  await cutsResolved(suite, buyer.account_id);
  await waitFor(async () => (await shown(buyer))['points_used'] === 213);
  // 1,065 tenths of a cent.
  expect(await shown(buyer)).toMatchObject({ amount: 107, max_amount: 500 });
  await close(buyer);
  await charged(buyer, 107);
  await settled(buyer);
  const [item] = await itemsOf(buyer);
  expect(item).toMatchObject({
    currency: 'eur',
    invoice: expect.any(String),
    metadata: { tollgate_overage: `overage:${String(buyer.period_id)}`, points: '213' },
  });
  const { body } = await buyer.browser.request('GET', '/overage-charges');
  expect(body['charges']).toMatchObject([{ points: 213, amount: 107, currency: 'eur' }]);
  const path = `/private/overage-charges?account_id=${String(buyer.account_id)}`;
  expect((await operatePath(suite.account, 'GET', path)).body).toMatchObject({
    charges: [{ charge_key: `overage:${String(buyer.period_id)}`, amount: 107 }],
  });
});

test('use beyond the cap is not charged', async () => {
  const buyer = await newCustomer();
  await agree(buyer, 200);
  await cutsResolved(suite, buyer.account_id);
  await use(buyer, 450);
  await counted(buyer, 450);
  await close(buyer);
  await charged(buyer, 100);
});

test('late usage that takes back what was counted makes a negative item', async () => {
  const buyer = await newCustomer();
  await agree(buyer, 1_000);
  await cutsResolved(suite, buyer.account_id);
  await use(buyer, 700);
  await counted(buyer, 700);
  await close(buyer);
  await charged(buyer, 300);
  await suite.database('usage_totals').where({ period_id: buyer.period_id }).update({ points: 300 });
  await charged(buyer, 300, -200);
  const keys = (await itemsOf(buyer)).map(({ metadata }) => metadata['tollgate_overage']);
  const first = `overage:${String(buyer.period_id)}`;
  expect(keys).toEqual([`${first}:2`, first]);
});

/** Until a correction of the closed period's usage is settled. */
async function corrected(buyer: Buyer, points: number): Promise<void> {
  const { period_id } = buyer;
  await suite.database('usage_totals').where({ period_id }).update({ points });
  await waitFor(
    async () =>
      (await suite.database('period_credits').where({ period_id, closed_points: points })).length === 1,
    { what: 'the correction to be settled' },
  );
  await settled(buyer);
}

describe('usage that is counted after the end of its period', () => {
  test('is charged up to the cap, and never beyond it', async () => {
    const buyer = await newCustomer();
    const { account_id, period_id } = buyer;
    await agree(buyer, 300);
    await cutsResolved(suite, account_id);
    await use(buyer, 200);
    await counted(buyer, 200);
    await close(buyer);
    await charged(buyer, 50);
    await corrected(buyer, 350);
    await charged(buyer, 50, 75);
    await corrected(buyer, 800);
    await charged(buyer, 50, 75, 25);
    await corrected(buyer, 900);
    await corrected(buyer, 350);
    await charged(buyer, 50, 75, 25, -25);
    await corrected(buyer, 400);
    await charged(buyer, 50, 75, 25, -25, 25);
    const settledPoints = suite.database('period_credits').where({ period_id }).first();
    expect(await settledPoints).toMatchObject({ settled_points: 300, overuse_points: 0 });
    expect(await checkOf(account_id)).toEqual([]);
  });

  test('is not charged beyond a cap that was lowered', async () => {
    const buyer = await newCustomer();
    await agree(buyer, 500);
    await cutsResolved(suite, buyer.account_id);
    await use(buyer, 200);
    await counted(buyer, 200);
    await agree(buyer, 150);
    await cutsResolved(suite, buyer.account_id);
    await close(buyer);
    await charged(buyer, 50);
    await corrected(buyer, 400);
    await charged(buyer, 50, 25);
    expect(await checkOf(buyer.account_id)).toEqual([]);
  });

  test('never exceeds the cap that holds last, however often it was changed before', async () => {
    const buyer = await newCustomer();
    for (const cap of [500, 0, 300]) {
      if (cap === 0) await put(buyer, { cap_points: 0 });
      else await agree(buyer, cap);
      await cutsResolved(suite, buyer.account_id);
    }
    await use(buyer, 410);
    await counted(buyer, 410);
    await close(buyer);
    await charged(buyer, 150);
    await corrected(buyer, 600);
    await charged(buyer, 150);
    expect(await checkOf(buyer.account_id)).toEqual([]);
  });

  test('beyond a cap that was lowered is settled as overuse, and the period closes', async () => {
    const buyer = await newCustomer();
    const { account_id, period_id } = buyer;
    await agree(buyer, 1_000);
    await cutsResolved(suite, account_id);
    await agree(buyer, 900);
    await cutsResolved(suite, account_id);
    await use(buyer, 1_005);
    await counted(buyer, 1_005);
    await close(buyer);
    await charged(buyer, 450);
    const settledPoints = suite.database('period_credits').where({ period_id }).first();
    expect(await settledPoints).toMatchObject({ settled_points: 905, overuse_points: 5 });
    expect(await checkOf(account_id)).toEqual([]);
  });

  test('is charged, too, if it is counted before the closing', async () => {
    const buyer = await newCustomer();
    const { account_id, period_id } = buyer;
    await agree(buyer, 300);
    await cutsResolved(suite, account_id);
    await suite
      .database('billing_periods')
      .where({ period_id })
      .update({ ended_at: secondsFromNow(-1), grace_sec: 3_600 });
    await settled(buyer);
    await cutsResolved(suite, account_id);
    await use(buyer, 250);
    await counted(buyer, 250);
    // Another instant at which usage is settled, before the closing.
    await grantNow(suite, account_id, { points: 20 });
    await cutsResolved(suite, account_id);
    await use(buyer, 270);
    await counted(buyer, 520);
    await suite.database('billing_periods').where({ period_id }).update({ grace_sec: 0 });
    await periodClosed(suite, period_id);
    await charged(buyer, 150);
    const settledPoints = suite.database('period_credits').where({ period_id }).first();
    expect(await settledPoints).toMatchObject({ settled_points: 420, overuse_points: 100 });
    expect(await checkOf(account_id)).toEqual([]);
  });

  test('takes nothing of the cap of the next period', async () => {
    const buyer = await newCustomer();
    const { account_id, period_id } = buyer;
    await agree(buyer, 100);
    await cutsResolved(suite, account_id);
    await use(buyer, 200);
    await counted(buyer, 200);
    await suite
      .database('billing_periods')
      .where({ period_id })
      .update({ ended_at: secondsFromNow(-1), grace_sec: 3_600 });
    await settled(buyer);
    const next = await insertPeriod(suite.database, account_id, {
      description: PLAN,
      started_at: secondsFromNow(0),
      ended_at: secondsFromNow(3_600),
    });
    await settled(buyer);
    const own = suite
      .database('overage_grants')
      .join('credit_grants', 'credit_grants.credit_id', 'overage_grants.credit_id')
      .where({ period_id: next });
    expect(await own.clone()).toMatchObject([{ points: 100 }]);
    await corrected(buyer, 250);
    await charged(buyer, 50);
    expect(await own.clone()).toMatchObject([{ points_remaining: 100 }]);
    expect(await checkOf(account_id)).toEqual([]);
  });
});

describe('the cap', () => {
  test('can be raised and lowered; what is used stays covered and is charged', async () => {
    const buyer = await newCustomer();
    await agree(buyer, 100);
    await cutsResolved(suite, buyer.account_id);
    await agree(buyer, 500);
    await limitBecomes(buyer, 600);
    await cutsResolved(suite, buyer.account_id);
    await use(buyer, 400);
    await counted(buyer, 400);
    await agree(buyer, 350);
    await limitBecomes(buyer, 450);
    await agree(buyer, 200);
    await limitBecomes(buyer, 400);
    expect(await shown(buyer)).toMatchObject({ cap_points: 200, points_used: 300, max_amount: 150 });
    await put(buyer, { cap_points: 0 });
    expect(await shown(buyer)).toMatchObject({ cap_points: 0, points_used: 300 });
    await close(buyer);
    await charged(buyer, 150);
  });

  test('keeps what is within it usable while a lower one is settled', async () => {
    const buyer = await newCustomer();
    const { account_id } = buyer;
    await agree(buyer, 100);
    await cutsResolved(suite, account_id);
    await agree(buyer, 500);
    await limitBecomes(buyer, 600);
    await use(buyer, 250);
    await counted(buyer, 250);
    await cutsResolved(suite, account_id);
    // Nothing is settled meanwhile.
    await suite.database('usage_restores').insert({ stream: 'a stream' });
    await agree(buyer, 350);
    expect(await limitOf(buyer)).toBe(450);
    expect(await creditsOf(buyer)).toMatchObject({ points_remaining: 0, overage_points_remaining: 200 });
    await agree(buyer, 300);
    expect(await limitOf(buyer)).toBe(400);
    await agree(buyer, 320);
    expect(await limitOf(buyer)).toBe(400);
    expect(await usable(account_id)).toBe(300);
    expect(await creditsOf(buyer)).toMatchObject({ overage_points_remaining: 150 });
    await use(buyer, 100);
    await counted(buyer, 350);
    expect(await shown(buyer)).toMatchObject({ cap_points: 320, points_used: 250 });
    expect(await creditsOf(buyer)).toMatchObject({ overage_points_remaining: 50 });
    await resume();
    // Then what was asked for last is given.
    await limitBecomes(buyer, 420);
    await agree(buyer, 100);
    await cutsResolved(suite, account_id);
    await limitBecomes(buyer, 350);
    expect(await shown(buyer)).toMatchObject({ cap_points: 100, points_used: 250 });
    expect(await checkOf(account_id)).toEqual([]);
    await close(buyer);
    await charged(buyer, 125);
  });

  test('holds in the next period from its first instant on', async () => {
    const buyer = await newCustomer();
    await agree(buyer, 100);
    const started_at = secondsFromNow(3_600 * 24 * 30);
    const ended_at = secondsFromNow(3_600 * 24 * 60);
    const period_id = await insertPeriod(suite.database, buyer.account_id, {
      description: PLAN,
      started_at,
      ended_at,
    });
    await settled(buyer);
    const grants = suite
      .database('overage_grants')
      .join('credit_grants', 'credit_grants.credit_id', 'overage_grants.credit_id')
      .where({ period_id });
    expect(await grants.clone().select('points', 'usable_from', 'expires_at', 'void_requested_at')).toEqual([
      {
        points: 100,
        usable_from: started_at,
        expires_at: new Date(ended_at.getTime() + 1_000),
        void_requested_at: null,
      },
    ]);
    await suite.database('billing_periods').where({ period_id }).delete();
    await waitFor(async () => (await grants.clone().whereNotNull('void_requested_at')).length === 1);
  });

  test('needs the price that was shown, a plan that has one, a card, and an own plan', async () => {
    const buyer = await newCustomer();
    const dearer = await put(buyer, { cap_points: 10, ...PRICE, price_per_1000: 400 });
    expect([dearer.status, dearer.body['code']]).toEqual([409, 'amount_changed']);
    const large = await put(buyer, { cap_points: 1_000_000_000_000, ...PRICE });
    expect([large.status, large.body['code']]).toEqual([400, 'invalid_request']);
    expect((await buyer.browser.request('GET', '/overage?cap_points=1000000000000')).status).toBe(400);
    const asked = await buyer.browser.request('GET', '/overage?cap_points=2500');
    expect(asked.body['overage']).toMatchObject({ cap_points: 0, max_amount: 1_250 });
    const other = await newCustomer({ points_limit: 100 });
    expect((await put(other, { cap_points: 10, ...PRICE })).body['code']).toBe('overage_not_offered');
    expect(await shown(other)).toMatchObject({ offer: null });
    const poor = await newBuyer(suite, PLAN);
    expect((await put(poor, { cap_points: 10, ...PRICE })).body['code']).toBe('no_payment_method');
  });

  test('does not hold for a plan that asks more than was agreed to', async () => {
    const buyer = await newCustomer();
    await agree(buyer, 100);
    const dear = { points_limit: 100, overage: { ...PRICE, price_per_1000: 501 } };
    const period_id = await insertPeriod(suite.database, buyer.account_id, {
      description: dear,
      started_at: secondsFromNow(3_600 * 24 * 30),
      ended_at: secondsFromNow(3_600 * 24 * 60),
    });
    await settled(buyer);
    expect(await suite.database('overage_grants').where({ period_id })).toEqual([]);
  });
});

test('a charge that Stripe has, and we have forgotten, is not made again', async () => {
  const buyer = await newCustomer();
  await agree(buyer, 1_000);
  await cutsResolved(suite, buyer.account_id);
  await use(buyer, 300);
  await counted(buyer, 300);
  await close(buyer);
  await charged(buyer, 100);
  await settled(buyer);
  const { account_id } = buyer;
  await suite.database('overage_charges').where({ account_id }).delete();
  await suite.database('overage_checks').insert({ account_id });
  await settled(buyer);
  await waitFor(async () => (await suite.database('overage_charges').where({ account_id })).length === 1);
  await settled(buyer);
  expect((await itemsOf(buyer)).map(({ amount }) => amount)).toEqual([100]);
});

test('a cap that can not be granted holds up no charge', async () => {
  const buyer = await newCustomer();
  const { account_id } = buyer;
  await agree(buyer, 1_000);
  await cutsResolved(suite, account_id);
  await use(buyer, 300);
  await counted(buyer, 300);
  await grantNow(suite, account_id, { points: MAX_TOTAL - 1_500 });
  await cutsResolved(suite, account_id);
  const description = { ...PLAN, points_limit: 1_000 };
  await insertPeriod(suite.database, account_id, {
    description,
    started_at: secondsFromNow(3_600 * 24 * 30),
    ended_at: secondsFromNow(3_600 * 24 * 60),
  });
  await close(buyer);
  await charged(buyer, 100);
  const waiting = suite.database('overage_checks').where({ account_id });
  await waitFor(async () => (await waiting.clone().where('next_attempt_at', '>', new Date())).length === 1, {
    what: 'the cap to be tried again later',
  });
  await waiting.delete();
});

test('a check waits for no erasure of its account, and the checks of other accounts for neither', async () => {
  const [{ account_id }, other] = [await newCustomer(), await newCustomer()];
  const checksOf = (id: number) => suite.database('overage_checks').where({ account_id: id });
  await suite.database.transaction(async (erasure) => {
    await erasure('accounts').where({ account_id }).forNoKeyUpdate().first();
    await suite.database('overage_checks').insert({ account_id });
    await suite.database('overage_checks').insert({ account_id: other.account_id });
    await waitFor(async () => (await checksOf(other.account_id)).length === 0);
    expect(await checksOf(account_id)).toHaveLength(1);
    await erasure('overage_checks').where({ account_id }).delete();
  });
  expect(await checksOf(account_id)).toEqual([]);
});

test('kill -9 at any moment of a charge charges once', async () => {
  const buyers = await Promise.all(Array.from({ length: 4 }, () => newCustomer()));
  for (const buyer of buyers) {
    await agree(buyer, 1_000);
    await cutsResolved(suite, buyer.account_id);
    await use(buyer, 300);
    await counted(buyer, 300);
  }
  for (const { period_id } of buyers) await endPeriod(suite, period_id);
  for (const buyer of buyers) {
    const isUnderWay = async () =>
      (await suite.database('overage_charges').where({ account_id: buyer.account_id })).length > 0 ||
      (await suite.database('overage_checks').where({ account_id: buyer.account_id })).length > 0;
    await waitFor(isUnderWay, { what: 'a charge to be under way' });
    await suite.account.kill();
    await suite
      .database('overage_charges')
      .whereNotNull('next_attempt_at')
      .update({ next_attempt_at: new Date() });
    await suite.account.restart();
  }
  for (const buyer of buyers) await charged(buyer, 100);
  for (const buyer of buyers) await settled(buyer);
  for (const buyer of buyers) expect(await itemsOf(buyer)).toHaveLength(1);
});

test('what Stripe was asked is what it takes', () => {
  expect(suite.faults()).toEqual([]);
});
