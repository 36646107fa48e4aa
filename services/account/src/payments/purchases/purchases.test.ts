import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import Stripe from 'stripe';
import { waitFor } from '@tollgate/stack/wait-for';
import { SAMPLE_SECRET_KEY, SAMPLE_WEBHOOK_SECRET } from '@tollgate/testbed/payments/sample-payments';
import { done } from '../../../test/suite/billing.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
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
import type { Bought, PaidAccount } from '../../../test/suite/payments.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';
import { createQuery } from '../../platform/database/query.ts';
import { setState } from './store.ts';

let suite: PaidAccount;

const { webhooks } = new Stripe(SAMPLE_SECRET_KEY);

beforeAll(async () => {
  suite = await startPaidAccount();
});

afterAll(() => suite.close());

afterEach(() => leaveTest(suite));

async function stateOf({ browser }: Owner, { purchase_id }: Bought): Promise<unknown> {
  return (await browser.request('GET', `/purchases/${String(purchase_id)}`)).body['state'];
}

const becomes = (owner: Owner, bought: Bought, state: string) =>
  waitFor(async () => (await stateOf(owner, bought)) === state, { what: `the purchase to be ${state}` });

/** Points granted, by grant. */
function grantsOf({ account_id }: Owner): Promise<number[]> {
  return suite.database('credit_grants').where({ account_id }).orderBy('credit_id').pluck<number[]>('points');
}

async function issuesOf({ account_id }: Owner): Promise<unknown> {
  const path = `/private/payments/issues?account_id=${String(account_id)}`;
  return (await operatePath(suite.account, 'GET', path)).body['issues'];
}

/** As the database has it, without asking the provider. */
async function storedState({ purchase_id }: Bought): Promise<unknown> {
  return (await suite.database('purchases').where({ purchase_id }).first<{ state: string }>()).state;
}

describe('a pack', () => {
  test('is paid on the payment page, and its points are granted', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite, { expires_after_days: 30 })];
    const bought = await buy(owner, pack, 2);
    expect(bought).toMatchObject({
      state: 'open',
      points: 2 * POINTS,
      amount: 3_800,
      currency: 'eur',
      decimals: 2,
    });
    await fetch(bought.checkout_url, {
      method: 'POST',
      body: new URLSearchParams({ payment_method: 'pm_card_visa' }),
      redirect: 'manual',
    });
    await becomes(owner, bought, 'paid');
    const { account_id } = owner;
    const grant = await suite
      .database('credit_grants')
      .where({ account_id })
      .first<Record<string, unknown>>();
    expect(grant).toMatchObject({ points: 2 * POINTS, source: 'purchase', purchase_id: bought.purchase_id });
    const list = await operatePath(
      suite.account,
      'GET',
      `/private/purchases?account_id=${String(owner.account_id)}`,
    );
    expect(list.body['purchases']).toMatchObject([
      {
        purchase_id: bought.purchase_id,
        state: 'paid',
        credit_id: grant['credit_id'],
      },
    ]);
  });

  test('that is paid has an invoice with a page of its own', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    const bought = await buy(owner, pack, 2);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    await becomes(owner, bought, 'paid');
    await quiet(suite);
    const invoices = async () => (await owner.browser.request('GET', '/invoices')).body['invoices'];
    const [invoice] = (await invoices()) as { invoice_id: number }[];
    expect(await invoices()).toMatchObject([
      { state: 'paid', total: 3_800, currency: 'eur', number: expect.any(String) as unknown },
    ]);
    const path = `/invoices/${String(invoice?.invoice_id)}/link`;
    const { body } = await owner.browser.request('POST', path);
    expect((await fetch(String(body['url']))).status).toBe(200);
    expect(await grantsOf(owner)).toEqual([2 * POINTS]);
  });

  test('bought by several clicks at once opens one page', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => buy(owner, pack)));
    expect(new Set(all.map(sessionOf)).size).toBe(1);
    // Another pack closes the page.
    await buy(owner, await newPack(suite, { points: 5 }));
    const [first] = all;
    if (first === undefined) throw new Error('nothing was bought');
    await becomes(owner, first, 'expired');
  });

  test('whose page was closed for another pack is expired before the event', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    await suite.payments.post('/sample/deliveries', { hold: 'true' });
    const first = await buy(owner, pack);
    await buy(owner, pack, 2);
    expect(await storedState(first)).toBe('expired');
  });

  test('whose page is closed does not open again by an answer that comes late', async () => {
    const query = createQuery(suite.database);
    const owner = await newBuyer(suite);
    const bought = await buy(owner, await newPack(suite));
    for (const [late, state] of [
      ['processing', 'processing'],
      ['open', 'processing'],
      ['failed', 'failed'],
      ['open', 'failed'],
      ['processing', 'failed'],
      ['expired', 'failed'],
    ] as const) {
      await setState(query, bought.purchase_id, late);
      expect([late, await storedState(bought)]).toEqual([late, state]);
    }
  });

  test('that was withdrawn is withdrawn once', async () => {
    const pack = await newPack(suite);
    const withdrawn = () =>
      done<{ withdrawn_at: string }>(suite.account, 'POST', `/private/packs/${String(pack)}/withdraw`);
    expect(await withdrawn()).toEqual(await withdrawn());
    const entries = await suite
      .database('audit_log')
      .where({ action: 'pack_withdrawn' })
      .pluck<{ pack_id: number }[]>('details');
    expect(entries.filter(({ pack_id }) => pack_id === pack)).toHaveLength(1);
  });

  test('that is paid after its buyer has joined a team is the buyer’s, not the manager’s', async () => {
    const [manager, buyer] = [await newBuyer(suite), await newBuyer(suite)];
    const bought = await buy(buyer, await newPack(suite));
    await makeTeam(manager);
    await joinTeam(manager, buyer);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    const granted = async () => (await grantsOf(buyer)).length > 0;
    await waitFor(granted, { what: 'the points' });
    expect([await grantsOf(buyer), await grantsOf(manager)]).toEqual([[POINTS], []]);
  });

  test('that is withdrawn can not be paid on a page that is open', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    const bought = await buy(owner, pack);
    await done(suite.account, 'POST', `/private/packs/${String(pack)}/withdraw`);
    expect(await stateOf(owner, bought)).toBe('expired');
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    expect(await grantsOf(owner)).toEqual([]);
  });

  test('that was withdrawn while it is paid is granted as it was sold', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    const bought = await buy(owner, pack);
    await suite.payments.post('/sample/outage', { on: 'true' });
    await done(suite.account, 'POST', `/private/packs/${String(pack)}/withdraw`);
    await suite.payments.post('/sample/outage', { on: 'false' });
    expect((await owner.browser.request('POST', '/purchases', { pack_id: pack })).body['code']).toBe(
      'pack_not_offered',
    );
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    await becomes(owner, bought, 'paid');
    expect(await grantsOf(owner)).toEqual([POINTS]);
  });

  test.each([
    ['a price of zero', { unit_amount: 0 }, 'unit_amount'],
    ['less than can be charged', { unit_amount: 49 }, 'unit_amount'],
    ['a currency that Stripe does not know', { currency: 'zzz' }, 'currency'],
    ['no points', { points: 0 }, 'points'],
  ])('with %s is not created', async (_what, changes, field) => {
    const wanted = { name: 'x', points: POINTS, currency: 'eur', unit_amount: 1_900, ...changes };
    const { status, body } = await operatePath(suite.account, 'POST', '/private/packs', wanted);
    expect([status, body['errors']]).toMatchObject([400, [{ field }]]);
  });
});

describe('events', () => {
  const outcomesOf = (bought: Bought) =>
    suite
      .database('payment_events')
      .where({ object_id: sessionOf(bought) })
      .pluck<string[]>('outcome');

  /** The line of account's log about a purchase. */
  async function loggedAbout({ purchase_id }: Bought, message: string): Promise<Record<string, unknown>> {
    const find = () =>
      suite.account
        .logs()
        .split('\n')
        .filter((line) => line.includes(message))
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .find((line) => line['purchase_id'] === purchase_id);
    await waitFor(() => find() !== undefined);
    return find() ?? {};
  }

  test('twice and in reverse order grant once', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    await suite.payments.post('/sample/deliveries', { hold: 'true', copies: '3' });
    const bought = await buy(owner, pack);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    await suite.payments.post('/sample/deliveries', { hold: 'false' });
    await suite.payments.post('/sample/deliveries/release', { order: 'reversed' });
    await becomes(owner, bought, 'paid');
    await quiet(suite);
    expect(await grantsOf(owner)).toEqual([POINTS]);
  });

  test('of a purchase that the database has forgotten grant what was sold', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    const bought = await buy(owner, pack, 3);
    await suite.database('purchases').where({ purchase_id: bought.purchase_id }).delete();
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    await waitFor(async () => (await grantsOf(owner)).length > 0);
    await quiet(suite);
    expect(await grantsOf(owner)).toEqual([3 * POINTS]);
  });

  test('that a killed process has stored are handled by the next', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    const bought = await buy(owner, pack);
    // The event's transaction can't get past the account that this one has locked.
    const holding = await suite.database.transaction();
    await holding('accounts').where({ account_id: owner.account_id }).forUpdate();
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    await waitFor(async () => {
      const leased = await suite.database('payment_events').where({ object_id: sessionOf(bought) });
      return leased.some((row: { leased_until: Date | null }) => row.leased_until !== null);
    });
    await suite.account.kill();
    await holding.rollback();
    await suite
      .database('payment_events')
      .update({ leased_until: null, next_attempt_at: new Date() })
      .whereNull('outcome');
    await suite.account.restart();
    await waitFor(async () => (await grantsOf(owner)).length > 0);
    await quiet(suite);
    expect(await grantsOf(owner)).toEqual([POINTS]);
  });

  test('that did not come are replaced by asking, once the customer is back', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    await suite.payments.post('/sample/deliveries', { hold: 'true' });
    const bought = await buy(owner, pack);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    expect(await stateOf(owner, bought)).toBe('open');
    await becomes(owner, bought, 'paid');
    expect(await grantsOf(owner)).toEqual([POINTS]);
    await suite.payments.post('/sample/deliveries', { hold: 'false' });
    await suite.payments.post('/sample/deliveries/release');
    await waitFor(async () => {
      const outcomes = await suite
        .database('payment_events')
        .where({ object_id: sessionOf(bought), type: 'checkout.session.completed' })
        .pluck<(string | null)[]>('outcome');
      return outcomes[0] === 'applied';
    });
    expect(await grantsOf(owner)).toEqual([POINTS]);
  });

  test('that come again after they were deleted change nothing', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    await suite.payments.post('/sample/deliveries', { hold: 'true' });
    const bought = await buy(owner, pack);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    await suite.payments.post('/sample/deliveries', { hold: 'false', copies: '2' });
    await suite.payments.post('/sample/deliveries/release');
    await becomes(owner, bought, 'paid');
    await quiet(suite);
    const ofPage = () => suite.database('payment_events').where({ object_id: sessionOf(bought) });
    const [event] = await ofPage().select<{ body: Buffer }[]>('body');
    if (event === undefined) throw new Error('no event was stored');
    await ofPage().delete();
    const payload = event.body.toString();
    const signature = webhooks.generateTestHeaderString({ payload, secret: SAMPLE_WEBHOOK_SECRET });
    const response = await fetch(`${suite.account.publicUrl}/payments/stripe/events`, {
      method: 'POST',
      headers: { 'stripe-signature': signature },
      body: payload,
    });
    expect(response.status).toBe(200);
    await quiet(suite);
    expect(await ofPage().pluck('outcome')).toEqual(['applied']);
    expect(await storedState(bought)).toBe('paid');
    expect(await grantsOf(owner)).toEqual([POINTS]);
  });

  test('of a payment by an erased account are answered by a refund, which is reported', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    const bought = await buy(owner, pack);
    const { account_id } = owner;
    await suite.database('accounts').where({ account_id }).update({ erased_at: new Date() });
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    const line = await loggedAbout(bought, 'account is erased');
    expect(line).toMatchObject({ level: 'warn', account_id, payment_id: expect.stringMatching(/^pi_/) });
    await quiet(suite);
    expect(await storedState(bought)).toBe('refunded');
    expect(await grantsOf(owner)).toEqual([]);
    const refunded = await suite.database('purchase_reversals').where({ account_id });
    expect(refunded).toMatchObject([{ refunded_amount: 1_900, target_points: 0, shortfall_points: 0 }]);
    expect(await issuesOf(owner)).toMatchObject([
      { kind: 'late_payment_refunded', object_id: line['payment_id'], details: { amount: 1_900 } },
    ]);
  });

  test('of two payments for the same grant twice, and are reported', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    const bought: Bought[] = [];
    for (const count of [1, 2]) {
      const one = await buy(owner, pack);
      bought.push(one);
      await suite.payments.post(`/sample/sessions/${sessionOf(one)}/pay`);
      await waitFor(async () => (await grantsOf(owner)).length === count);
    }
    const [first, second] = bought;
    const details = { purchase_id: second?.purchase_id, duplicate_of: first?.purchase_id };
    expect(await issuesOf(owner)).toMatchObject([{ kind: 'possible_duplicate', details }]);
  });

  test('of a payment for more points than an account can have grant nothing, and are listed', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite, { points: Number.MAX_SAFE_INTEGER })];
    const bought = await buy(owner, pack);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
    const line = await loggedAbout(bought, 'too many points');
    expect(line).toMatchObject({ level: 'error', account_id: owner.account_id });
    await quiet(suite);
    expect(await outcomesOf(bought)).toEqual(['ignored']);
    expect(await grantsOf(owner)).toEqual([]);
    const path = `/private/purchases?account_id=${String(owner.account_id)}`;
    expect((await operatePath(suite.account, 'GET', path)).body['purchases']).toMatchObject([
      { state: 'paid', credit_id: null, payment_id: line['payment_id'] },
    ]);
    expect(await issuesOf(owner)).toMatchObject([
      { kind: 'points_not_granted', object_id: line['payment_id'], resolved_at: null },
    ]);
  });

  test.each(['succeeded', 'failed'] as const)('a debit is on its way until it has %s', async (outcome) => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    const bought = await buy(owner, pack);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`, {
      payment_method: 'pm_sepa_debit',
    });
    await becomes(owner, bought, 'processing');
    expect(await grantsOf(owner)).toEqual([]);
    await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/settle`, { outcome });
    await becomes(owner, bought, outcome === 'succeeded' ? 'paid' : 'failed');
    expect(await grantsOf(owner)).toEqual(outcome === 'succeeded' ? [POINTS] : []);
  });
});

describe('refuses', () => {
  const refusal = async ({ browser }: Owner, pack_id: number) => {
    const { status, headers, body } = await browser.request('POST', '/purchases', { pack_id });
    return { status, code: body['code'], retryAfter: headers.get('retry-after') };
  };

  test('accounts that could not use the points', async () => {
    const pack = await newPack(suite);
    expect(await refusal(await newOwner(suite), pack)).toMatchObject({ code: 'no_billing_period' });
    expect(await refusal(await newBuyer(suite, {}), pack)).toMatchObject({
      code: 'plan_has_no_points_limit',
    });
  });

  test.each([
    ['money', { unit_amount: 1_000_000 }],
    ['points', { points: Number.MAX_SAFE_INTEGER }],
  ])('a quantity that makes the total of %s too large', async (_what, changes) => {
    const pack_id = await newPack(suite, changes);
    const { browser } = await newBuyer(suite);
    const { status, body } = await browser.request('POST', '/purchases', { pack_id, quantity: 100 });
    expect([status, body['errors']]).toMatchObject([
      400,
      [{ field: 'quantity', message: 'makes the total too large' }],
    ]);
  });

  test('members of a team, whose manager pays', async () => {
    const [manager, member] = [await newBuyer(suite), await newOwner(suite)];
    await makeTeam(manager);
    await joinTeam(manager, member);
    expect(await refusal(member, await newPack(suite))).toMatchObject({ status: 403, code: 'forbidden' });
  });

  test('the eleventh page of an hour', async () => {
    const owner = await newBuyer(suite);
    for (let count = 1; count <= 10; count += 1) await buy(owner, await newPack(suite, { points: count }));
    expect(await refusal(owner, await newPack(suite))).toMatchObject({
      status: 429,
      code: 'too_many_requests',
    });
  });

  test('while Stripe is away; the same click works afterwards', async () => {
    const [owner, pack] = [await newBuyer(suite), await newPack(suite)];
    await suite.account.stop();
    await suite.account.restart({ STRIPE_API_URL: 'http://127.0.0.1:9' });
    expect(await refusal(owner, pack)).toEqual({
      status: 503,
      code: 'payments_unavailable',
      retryAfter: '30',
    });
    await suite.account.stop();
    await suite.account.restart();
    expect((await buy(owner, pack)).state).toBe('open');
  });
});

test('Stripe would have taken every request', () => {
  expect(suite.faults()).toEqual([]);
});

test('an event of an object that stays unknown is given up after a week', async () => {
  const ageOf = (days: number) => new Date(Date.now() - days * 86_400_000);
  const event = (id: string, days: number) => ({
    stripe_event_id: `evt_${id}`,
    type: 'charge.refunded',
    object_id: `pi_${id}`,
    body: Buffer.from('{}'),
    created_at: ageOf(days),
  });
  await suite.database('payment_events').insert([event('unknown_old', 8), event('unknown_new', 6)]);
  const read = (id: string) =>
    suite
      .database('payment_events')
      .where({ stripe_event_id: `evt_${id}` })
      .first<Record<string, unknown>>();
  const isAttempted = async (id: string) => {
    const { attempts, outcome } = await read(id);
    return attempts !== 0 || outcome !== null;
  };
  await waitFor(async () => (await isAttempted('unknown_old')) && (await isAttempted('unknown_new')), {
    what: 'both events to be attempted',
  });
  expect(await read('unknown_old')).toMatchObject({ outcome: 'ignored' });
  expect(await read('unknown_new')).toMatchObject({ outcome: null });
  await suite.database('payment_events').where({ stripe_event_id: 'evt_unknown_new' }).delete();
});
