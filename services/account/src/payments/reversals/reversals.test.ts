import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { SAMPLE_SECRET_KEY } from '@tollgate/testbed/payments/sample-payments';
import { cutsResolved } from '../../../test/suite/credits.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
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
import type { Bought, Buyer, PaidAccount } from '../../../test/suite/payments.ts';
import { allCounted, appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import type { Apply } from '../applied.ts';
import type { Payment } from '../provider.ts';
import { applyPayment } from './apply.ts';

let suite: PaidAccount;

beforeAll(async () => {
  suite = await startPaidAccount();
});

afterAll(() => suite.close());

afterEach(() => leaveTest(suite));

const PRICE = 1_900;

type Paid = { buyer: Buyer; bought: Bought; payment: string; charge: string };

async function newPaid(changes: Record<string, unknown> = {}): Promise<Paid> {
  const [buyer, pack] = [await newBuyer(suite), await newPack(suite, changes)];
  const bought = await buy(buyer, pack);
  await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
  const find = () =>
    suite
      .database('purchases')
      .where({ purchase_id: bought.purchase_id, state: 'paid' })
      .first<{ payment_id: string } | undefined>();
  await waitFor(async () => (await find()) !== undefined, { what: 'the purchase to be paid' });
  const payment = (await find())?.payment_id ?? '';
  const { latest_charge } = await read(`/v1/payment_intents/${payment}`);
  return { buyer, bought, payment, charge: String(latest_charge) };
}

async function read(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(suite.payments.url + path, {
    headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
  });
  return (await response.json()) as Record<string, unknown>;
}

const refund = ({ payment }: Paid, amount: number) =>
  suite.payments.post('/v1/refunds', { payment_intent: payment, amount: String(amount) });

const dispute = ({ charge }: Paid, status = 'needs_response') =>
  suite.payments.post(`/sample/charges/${charge}/dispute`, { status });

const close = (opened: Record<string, unknown>, status: 'won' | 'lost') =>
  suite.payments.post(`/sample/disputes/${String(opened['id'])}/close`, { status });

/** Above what the plan includes. */
async function use({ account_id, period_id }: Buyer, points: number): Promise<void> {
  const payer = { account_id, payer_id: account_id, period_id };
  await appendBatch(suite.store, [usageEvent({ ...payer, points: points + 100 })]);
  await allCounted(suite);
}

type Reversal = { target_points: number; taken_points: number; shortfall_points: number };

/** Until as many points shall be taken, and are. */
async function reversed({ bought, buyer }: Paid, target_points: number): Promise<Reversal> {
  const find = () =>
    suite
      .database('purchase_reversals')
      .where({ purchase_id: bought.purchase_id, target_points, next_step_at: null })
      .first<Reversal | undefined>();
  await waitFor(async () => (await find()) !== undefined, {
    what: `${String(target_points)} points to be taken`,
  });
  await cutsResolved(suite, buyer.account_id);
  const found = await find();
  if (found === undefined) throw new Error('the reversal has changed again');
  return found;
}

/** Points left, by grant that has some. */
async function left({ buyer: { account_id } }: Paid): Promise<unknown[]> {
  const grants = await suite
    .database('credit_grants')
    .where({ account_id })
    .andWhere('points_remaining', '>', 0)
    .orderBy('credit_id')
    .select<{ points_remaining: number; source: string }[]>('points_remaining', 'source');
  return grants.map(({ points_remaining, source }) => [points_remaining, source]);
}

async function issuesOf({ buyer }: Paid, state = 'open'): Promise<Record<string, unknown>[]> {
  const path = `/private/payments/issues?account_id=${String(buyer.account_id)}&state=${state}`;
  return (await operatePath(suite.account, 'GET', path)).body['issues'] as Record<string, unknown>[];
}

async function listed({ buyer, bought }: Paid): Promise<unknown> {
  const path = `/private/purchases?account_id=${String(buyer.account_id)}`;
  const { body } = await operatePath(suite.account, 'GET', path);
  const purchases = body['purchases'] as { purchase_id: number }[];
  return purchases.find(({ purchase_id }) => purchase_id === bought.purchase_id);
}

async function entitlementOf({ buyer }: Paid): Promise<Record<string, unknown>> {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(buyer.account_id)}`);
  return (await response.json()) as Record<string, unknown>;
}

const statusOf = async (paid: Paid) => (await entitlementOf(paid))['status'];

const statusBecomes = (paid: Paid, status: string) =>
  waitFor(async () => (await statusOf(paid)) === status, { what: `the status to be ${status}` });

describe('a refund', () => {
  test('of all takes all points, and the purchase is refunded', async () => {
    const paid = await newPaid();
    await refund(paid, PRICE);
    expect(await reversed(paid, POINTS)).toMatchObject({ taken_points: POINTS, shortfall_points: 0 });
    expect(await left(paid)).toEqual([]);
    expect(await listed(paid)).toMatchObject({
      state: 'refunded',
      refunded_amount: PRICE,
      points_taken: POINTS,
      shortfall_points: 0,
    });
    expect(await issuesOf(paid)).toEqual([]);
  });

  test('of parts takes their share once, however often and in which order its events come', async () => {
    const paid = await newPaid({ expires_after_days: 30 });
    await suite.payments.post('/sample/deliveries', { hold: 'true', copies: '3' });
    await refund(paid, 500);
    await refund(paid, 450);
    await suite.payments.post('/sample/deliveries', { hold: 'false' });
    await suite.payments.post('/sample/deliveries/release', { order: 'reversed' });
    expect(await reversed(paid, POINTS / 2)).toMatchObject({ taken_points: POINTS / 2 });
    await quiet(suite);
    await reversed(paid, POINTS / 2);
    expect(await left(paid)).toEqual([[POINTS / 2, 'purchase']]);
    const expiries = await suite
      .database('credit_grants')
      .where({ account_id: paid.buyer.account_id })
      .pluck<Date[]>('expires_at');
    expect(new Set(expiries.map(Number)).size).toBe(1);
    expect(await listed(paid)).toMatchObject({
      state: 'paid',
      refunded_amount: 950,
      points_taken: POINTS / 2,
    });
  });

  test('of points that were used states the shortfall, until an operator has resolved it', async () => {
    const paid = await newPaid();
    await use(paid.buyer, 8_000);
    await refund(paid, 950);
    const { taken_points, shortfall_points } = await reversed(paid, 5_000);
    expect([taken_points, shortfall_points]).toEqual([2_000, 3_000]);
    const [issue] = await issuesOf(paid);
    expect(issue).toMatchObject({
      kind: 'refund_shortfall',
      object_id: paid.payment,
      details: { purchase_id: paid.bought.purchase_id, shortfall_points: 3_000 },
    });
    const path = `/private/payments/issues/${String(issue?.['issue_id'])}/resolve`;
    const first = await operatePath(suite.account, 'POST', path);
    expect(first.body['resolved_at']).toEqual(expect.any(String));
    expect((await operatePath(suite.account, 'POST', path)).body).toEqual(first.body);
    expect(await issuesOf(paid)).toEqual([]);
    expect(await issuesOf(paid, 'resolved')).toHaveLength(1);
  });

  test('that fails gives the points back as a compensation', async () => {
    const paid = await newPaid();
    const { id } = await refund(paid, PRICE);
    await reversed(paid, POINTS);
    await suite.payments.post(`/sample/refunds/${String(id)}/fail`);
    expect(await reversed(paid, 0)).toMatchObject({ taken_points: 0, shortfall_points: 0 });
    expect(await left(paid)).toEqual([[POINTS, 'compensation']]);
    expect(await listed(paid)).toMatchObject({ state: 'paid', refunded_amount: 0 });
  });
});

describe('a dispute', () => {
  test('freezes what is left, and gives exactly that back once it is won', async () => {
    const paid = await newPaid();
    await use(paid.buyer, 3_000);
    const opened = await dispute(paid);
    expect(await reversed(paid, POINTS)).toMatchObject({ taken_points: 7_000, shortfall_points: 3_000 });
    expect(await left(paid)).toEqual([]);
    expect((await issuesOf(paid)).map(({ kind }) => kind)).toContain('dispute');
    await close(opened, 'won');
    await reversed(paid, 0);
    expect(await left(paid)).toEqual([[7_000, 'purchase']]);
    expect(await issuesOf(paid)).toEqual([]);
  });

  test("blocks the account until it is won, beside an operator's block, and asks for no payment", async () => {
    const paid = await newPaid();
    const path = `/private/accounts/${String(paid.buyer.account_id)}`;
    await statusBecomes(paid, 'active');
    const opened = await dispute(paid);
    await statusBecomes(paid, 'blocked');
    expect(await entitlementOf(paid)).not.toHaveProperty('pay_url');
    await operatePath(suite.account, 'POST', `${path}/block`);
    await operatePath(suite.account, 'POST', `${path}/unblock`);
    expect(await statusOf(paid)).toBe('blocked');
    await close(opened, 'won');
    await statusBecomes(paid, 'active');
  });

  test('that is lost goes on blocking the account', async () => {
    const paid = await newPaid();
    await close(await dispute(paid), 'lost');
    const isLost = async () => JSON.stringify(await issuesOf(paid)).includes('"state":"lost"');
    await waitFor(isLost);
    await quiet(suite);
    expect(await statusOf(paid)).toBe('blocked');
  });

  test('that is lost takes the points for good, and none twice with a refund', async () => {
    const paid = await newPaid();
    await refund(paid, 950);
    await reversed(paid, POINTS / 2);
    await close(await dispute(paid), 'lost');
    expect(await reversed(paid, POINTS)).toMatchObject({ taken_points: POINTS, shortfall_points: 0 });
    expect(await left(paid)).toEqual([]);
    const [issue] = await issuesOf(paid);
    expect(issue).toMatchObject({ kind: 'dispute', details: { state: 'lost' } });
  });

  test('that is only an inquiry is listed, and takes nothing', async () => {
    const paid = await newPaid();
    await dispute(paid, 'warning_needs_response');
    await waitFor(async () => (await issuesOf(paid)).length === 1);
    expect(await issuesOf(paid)).toMatchObject([{ kind: 'dispute_inquiry' }]);
    expect(await statusOf(paid)).toBe('active');
    expect(await left(paid)).toEqual([[POINTS, 'purchase']]);
    const disputes = [{ dispute_id: 'du_1', state: 'open', amount: PRICE }] as const;
    const inquiry = [{ ...disputes[0], state: 'inquiry' }] as const;
    const other = await newPaid();
    for (const now of [inquiry, disputes]) {
      await applied({ payment_id: other.payment, disputes: now }, other.payment);
    }
    expect((await issuesOf(other)).map(({ kind }) => kind)).toEqual(['dispute']);
  });
});

/** As the provider would state a payment. */
function needsFor(payment: Partial<Payment>) {
  const read: Payment = {
    payment_id: 'pi_1',
    customer_id: null,
    currency: 'eur',
    metadata: {},
    state: 'paid',
    paid: PRICE,
    refunded: 0,
    pending: 0,
    refundedHere: 0,
    disputes: [],
    ...payment,
  };
  const provider = { readPayment: () => Promise.resolve(read) };
  return {
    query: createQuery(suite.database),
    provider,
    lockInstant: () => Promise.resolve(Date.now()),
  };
}

const transact = (apply: Apply) => createTransact(suite.database)(apply);

async function applied(payment: Partial<Payment>, paymentId: string): Promise<unknown> {
  const apply = await applyPayment(needsFor(payment), paymentId);
  if (apply === undefined) throw new Error('the payment is not known');
  return transact(apply);
}

describe('a payment', () => {
  test('that fails after its points were granted is listed with what was used', async () => {
    const paid = await newPaid();
    await applied({ payment_id: paid.payment, state: 'failed' }, paid.payment);
    expect(await issuesOf(paid)).toMatchObject([
      { kind: 'payment_failed_after_grant', details: { points_granted: POINTS, points_used: 0 } },
    ]);
    expect(await left(paid)).toEqual([[POINTS, 'purchase']]);
  });

  test('is applied only as it was read last', async () => {
    const paid = await newPaid();
    const { payment } = paid;
    const older = await applyPayment(needsFor({ payment_id: payment, refunded: 190 }), payment);
    const newer = await applyPayment(needsFor({ payment_id: payment, refunded: 380 }), payment);
    if (older === undefined || newer === undefined) throw new Error('the payment is not known');
    await transact(newer);
    await expect(transact(older)).rejects.toMatchObject({
      cause: { message: `the payment ${payment} was read again meanwhile` },
    });
    expect(await reversed(paid, 2_000)).toMatchObject({ taken_points: 2_000 });
  });

  test('of an unknown customer is ignored', async () => {
    expect(await applied({ refunded: 100 }, 'pi_unknown')).toEqual({ outcome: 'ignored', change: null });
  });
});

test('Stripe would have taken every request', () => {
  expect(suite.faults()).toEqual([]);
});
