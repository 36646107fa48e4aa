import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cutsResolved } from '../suite/credits.ts';
import { operatePath } from '../suite/operator.ts';
import { POINTS, buy, newBuyer, newPack } from '../suite/payments.ts';
import type { Buyer } from '../suite/payments.ts';
import { mailsTo } from '../suite/people.ts';
import { getPrivate } from '../suite/requests.ts';
import { appendBatch, usageEvent } from '../suite/usage/usage-streams.ts';
import { idOf } from '../../src/payments/stripe/values.ts';
import { PROFILE, isLeft, leaveNothing, pricesOf } from './clean-up.ts';
import { startProfiledAccount } from './profiled-account.ts';
import type { ProfiledAccount } from './profiled-account.ts';
import { profiled } from './stripe-target.ts';
import {
  AMOUNT,
  OVERAGE,
  advanceClock,
  attach,
  attachDebit,
  newSubscriber,
  renewalInvoice,
  useMethod,
} from './subscriber.ts';
import type { Row, Subscriber } from './subscriber.ts';

/**
 * What only a real account at Stripe proves (docs/guides/stripe-account.md). Without a key for one it runs against our
 * double, which proves that the profile itself works.
 */
describe.each(profiled())('$name', ({ pace, start }) => {
  let suite: ProfiledAccount;

  beforeAll(async () => {
    suite = await startProfiledAccount(await start(), pace);
  }, pace.testMs);

  afterAll(() => suite.close(), pace.testMs);

  const view = async ({ browser }: Pick<Buyer, 'browser'>): Promise<Row> =>
    (await browser.request('GET', '/subscription')).body;

  const statusBecomes = (owner: Pick<Buyer, 'browser'>, status: string) =>
    suite.until(async () => (await view(owner))['status'] === status, `the status to be ${status}`);

  async function entitlementOf({ account_id }: Pick<Buyer, 'account_id'>): Promise<Row> {
    const path = `/private/entitlements/${String(account_id)}`;
    return (await (await getPrivate(suite.account, path)).json()) as Row;
  }

  const mailBecomes = ({ email }: Pick<Buyer, 'email'>, subject: string) =>
    suite.until(
      () => mailsTo(suite.mailDirectory, email).find((mail) => mail.subject.includes(subject)),
      `the mail "${subject}"`,
    );

  const use = ({ account_id, period_id }: Omit<Buyer, 'browser'>, points: number) =>
    appendBatch(suite.store, [usageEvent({ account_id, payer_id: account_id, period_id, points })]);

  const issuesOf = async ({ account_id }: Pick<Buyer, 'account_id'>): Promise<Row[]> => {
    const path = `/private/payments/issues?account_id=${String(account_id)}`;
    return (await operatePath(suite.account, 'GET', path)).body['issues'] as Row[];
  };

  describe('a renewal', () => {
    const blocksOf = ({ account_id }: Subscriber): Promise<Row[]> =>
      suite.database('payment_blocks').where({ account_id });

    const isPaid = async (subscriber: Subscriber) => {
      await suite.until(async () => (await blocksOf(subscriber)).length === 0, 'the period to be paid');
      expect(await view(subscriber)).toMatchObject({ status: 'active', payments: { due: null } });
    };

    /** Stripe first: its draft is there before account closes the period. */
    async function crossBorder(subscriber: Subscriber): Promise<void> {
      await advanceClock(suite, subscriber, 1);
      const border = subscriber.border.renewsAt * 1_000;
      await suite.until(() => Date.now() > border, 'the border');
    }

    const HOUR_SEC = 3_600;

    /** The hour of the draft is over, and Stripe charges. */
    const charge = (subscriber: Subscriber) => advanceClock(suite, subscriber, HOUR_SEC + 60);

    /** Stripe's hosted page, which the customer's link leads to, needs a person. */
    async function payByCard(subscriber: Subscriber): Promise<void> {
      const { stripe } = suite.target;
      const { body } = await subscriber.browser.request('GET', '/invoices');
      const open = (body['invoices'] as Row[]).find(({ state }) => state === 'open');
      const link = await subscriber.browser.request('POST', `/invoices/${String(open?.['invoice_id'])}/link`);
      const { id, hosted_invoice_url } = await renewalInvoice(suite, subscriber);
      expect(link.body['url']).toBe(hosted_invoice_url);
      const payment_method = await attach(stripe, subscriber.customer, 'pm_card_visa');
      await stripe.invoices.pay(id, { payment_method });
    }

    async function renewUnpaid(card: string): Promise<Subscriber> {
      const subscriber = await newSubscriber(suite);
      const { stripe } = suite.target;
      await useMethod(suite, subscriber, await attach(stripe, subscriber.customer, card));
      await crossBorder(subscriber);
      expect(await view(subscriber)).toMatchObject({ status: 'active', payments: { due: null } });
      await charge(subscriber);
      await statusBecomes(subscriber, 'grace');
      expect(await entitlementOf(subscriber)).toMatchObject({ status: 'grace' });
      expect((await mailBecomes(subscriber, 'Your payment failed')).text).toContain('/user/plan');
      return subscriber;
    }

    test(
      'is a draft for an hour, takes the further points of the period before, and settles the period once it is paid',
      async () => {
        const subscriber = await newSubscriber(suite);
        const { stripe } = suite.target;
        const agreed = await subscriber.browser.request('PUT', '/overage', { cap_points: 1_000, ...OVERAGE });
        expect(agreed.status).toBe(200);
        await cutsResolved(suite, subscriber.account_id);
        await use(subscriber, 150);
        await crossBorder(subscriber);
        const { id } = await renewalInvoice(suite, subscriber);
        const further = 25;
        const total = await suite.until(async () => {
          const draft = await stripe.invoices.retrieve(id);
          expect(draft.status).toBe('draft');
          return draft.total > AMOUNT ? draft.total : undefined;
        }, 'the further points to be on the draft');
        expect(total).toBe(AMOUNT + further);
        expect(await blocksOf(subscriber)).toHaveLength(1);
        await charge(subscriber);
        await suite.until(
          async () => (await stripe.invoices.retrieve(id)).status === 'paid',
          'Stripe to charge the invoice',
        );
        await isPaid(subscriber);
        const { body } = await subscriber.browser.request('GET', '/invoices');
        expect(body['invoices']).toMatchObject([
          { state: 'paid', total: AMOUNT + further },
          { state: 'paid', total: AMOUNT },
        ]);
      },
      pace.testMs,
    );

    test(
      'by a card that is declined leads to grace, then blocks, and a payment lifts it',
      async () => {
        const subscriber = await renewUnpaid('pm_card_chargeCustomerFail');
        const { account_id } = subscriber;
        // As if PAYMENT_GRACE_SEC had passed.
        const past = new Date(Date.now() - 1_000);
        await suite
          .database('payment_blocks')
          .where({ account_id })
          .update({ grace_at: past, blocks_at: past });
        await statusBecomes(subscriber, 'blocked');
        expect(await entitlementOf(subscriber)).toMatchObject({
          status: 'blocked',
          pay_url: expect.stringContaining('/user/plan') as unknown,
        });
        await payByCard(subscriber);
        await isPaid(subscriber);
      },
      pace.testMs,
    );

    test(
      'by a card that needs the customer leads to grace, until another card pays',
      async () => {
        const subscriber = await renewUnpaid('pm_card_authenticationRequired');
        await payByCard(subscriber);
        await isPaid(subscriber);
      },
      pace.testMs,
    );

    test(
      'by debit stays active without a mail while the bank decides, and is settled by its word',
      async () => {
        const subscriber = await newSubscriber(suite);
        const { stripe } = suite.target;
        const { customer, email, border } = subscriber;
        const debit = await attachDebit(stripe, customer, email, 'succeeded');
        await useMethod(suite, subscriber, debit);
        await crossBorder(subscriber);
        await charge(subscriber);
        const hours = async () => {
          const [block] = await blocksOf(subscriber);
          return (Number(block?.['grace_at']) / 1_000 - border.renewsAt) / HOUR_SEC;
        };
        await suite.until(async () => (await hours()) === 72, 'the time of a debit');
        expect(await view(subscriber)).toMatchObject({ status: 'active', payments: { due: null } });
        const { id } = await renewalInvoice(suite, subscriber);
        const { data } = await stripe.invoicePayments.list({ invoice: id, status: 'open' });
        await suite.target.decideDebit(idOf(data[0]?.payment.payment_intent) ?? '', 'succeeded');
        await isPaid(subscriber);
        expect(mailsTo(suite.mailDirectory, email)).toEqual([]);
      },
      pace.testMs,
    );
  });

  describe('a top-up', () => {
    type Holder = Buyer & { customer: string; pack_id: number };

    /** A plan of 100 points, and a customer whom account has made at Stripe for the portal. */
    async function newHolder(): Promise<Holder> {
      const [buyer, pack_id] = [await newBuyer(suite), await newPack(suite)];
      const portal = await buyer.browser.request('POST', '/payments/portal');
      expect(portal.status).toBe(200);
      const { account_id } = buyer;
      const row = await suite.database('stripe_customers').where({ account_id }).first<Row>();
      const customer = String(row['customer_id']);
      await suite.target.stripe.customers.update(customer, { metadata: { made_by: PROFILE } });
      return { ...buyer, customer, pack_id };
    }

    const PRICE = 1_900;

    /** It is charged for once so few points are left. */
    async function topUp(holder: Holder, method: string): Promise<void> {
      const { stripe } = suite.target;
      const { customer, pack_id, browser } = holder;
      await stripe.customers.update(customer, { invoice_settings: { default_payment_method: method } });
      const choice = { pack_id, threshold_points: 50, max_times: 3, max_amount: 10 * PRICE };
      const { status, text } = await browser.request('PUT', '/top-up', choice);
      if (status !== 200) throw new Error(text);
      await use(holder, 90);
    }

    const topUpByCard = async (holder: Holder, card: string) =>
      topUp(holder, await attach(suite.target.stripe, holder.customer, card));

    type Shown = { state: string; decline_code: string | null };

    const attemptsOf = async ({ browser }: Holder) =>
      (await browser.request('GET', '/top-ups')).body['top_ups'] as Shown[];

    const attempted = (holder: Holder, ...states: string[]) =>
      suite.until(
        async () => (await attemptsOf(holder)).map(({ state }) => state).join(' ') === states.join(' '),
        `top-ups to be ${states.join(', ')}`,
      );

    const grantsOf = ({ account_id }: Holder) =>
      suite.database('credit_grants').where({ account_id }).pluck<number[]>('points');

    async function paymentOf({ customer }: Holder): Promise<string> {
      const { data } = await suite.target.stripe.paymentIntents.list({ customer, limit: 1 });
      return data[0]?.id ?? '';
    }

    test(
      'by a card that needs the customer pauses with a mail, and another card resumes it',
      async () => {
        const holder = await newHolder();
        await topUpByCard(holder, 'pm_card_authenticationRequired');
        await attempted(holder, 'declined');
        expect(await attemptsOf(holder)).toMatchObject([{ decline_code: 'authentication_required' }]);
        expect(await grantsOf(holder)).toEqual([]);
        await mailBecomes(holder, 'Your automatic top-up failed');
        const { stripe } = suite.target;
        const default_payment_method = await attach(stripe, holder.customer, 'pm_card_visa');
        await stripe.customers.update(holder.customer, { invoice_settings: { default_payment_method } });
        await attempted(holder, 'paid', 'declined');
        expect(await grantsOf(holder)).toEqual([POINTS]);
      },
      pace.testMs,
    );

    test.each([
      { outcome: 'succeeded', state: 'paid', points: [POINTS] },
      { outcome: 'failed', state: 'declined', points: [] },
    ] as const)(
      'by debit grants nothing until it has $outcome',
      async ({ outcome, state, points }) => {
        const holder = await newHolder();
        const { stripe } = suite.target;
        await topUp(holder, await attachDebit(stripe, holder.customer, holder.email, outcome));
        await attempted(holder, 'pending');
        const payment = await suite.until(async () => {
          const id = await paymentOf(holder);
          const { status } = await stripe.paymentIntents.retrieve(id);
          return status === 'processing' ? id : undefined;
        }, 'the debit to be under way');
        expect(await grantsOf(holder)).toEqual([]);
        await suite.target.decideDebit(payment, outcome);
        await attempted(holder, state);
        expect(await grantsOf(holder)).toEqual(points);
      },
      pace.testMs,
    );

    test(
      'that is refunded at Stripe takes its points back',
      async () => {
        const holder = await newHolder();
        await topUpByCard(holder, 'pm_card_visa');
        await attempted(holder, 'paid');
        await suite.target.stripe.refunds.create({ payment_intent: await paymentOf(holder) });
        const { account_id } = holder;
        const left = () =>
          suite.database('credit_grants').where({ account_id }).pluck<number[]>('points_remaining');
        await suite.until(async () => (await left())[0] === 0, 'the points to be taken back');
        expect(await issuesOf(holder)).toEqual([]);
      },
      pace.testMs,
    );

    test(
      'that is disputed blocks the account and freezes its points',
      async () => {
        const holder = await newHolder();
        await topUpByCard(holder, 'pm_card_createDispute');
        await attempted(holder, 'paid');
        await suite.until(
          async () => (await entitlementOf(holder))['status'] === 'blocked',
          'the account to be blocked',
        );
        await suite.until(async () => (await issuesOf(holder)).length > 0, 'the dispute to be listed');
        const [issue] = await issuesOf(holder);
        expect(issue).toMatchObject({ kind: 'dispute', details: { amount: PRICE } });
        const { stripe } = suite.target;
        expect(await stripe.disputes.retrieve(String(issue?.['object_id']))).toMatchObject({
          payment_intent: await paymentOf(holder),
        });
      },
      pace.testMs,
    );

    test(
      "the page of a pack has its price at Stripe, and closing it there ends the purchase's page",
      async () => {
        const holder = await newHolder();
        const { stripe } = suite.target;
        const { purchase_id } = await buy(holder, holder.pack_id);
        const purchase = suite.database('purchases').where({ purchase_id });
        const page = await stripe.checkout.sessions.retrieve(
          String((await purchase.clone().first<Row>())['session_id']),
        );
        expect(page).toMatchObject({ mode: 'payment', status: 'open', amount_total: PRICE });
        await stripe.checkout.sessions.expire(page.id);
        await suite.until(
          async () => (await purchase.clone().first<Row>())['state'] === 'expired',
          'the page to be closed',
        );
      },
      pace.testMs,
    );
  });

  test(
    'nothing is left in the account but what is archived',
    async () => {
      const { stripe } = suite.target;
      await leaveNothing(stripe, suite.database, suite.made);
      const clocks = await stripe.testHelpers.testClocks.list({ limit: 100 });
      expect(clocks.data.filter(({ id }) => suite.made.clocks.has(id))).toEqual([]);
      const customers = await suite.database('stripe_customers').pluck<string[]>('customer_id');
      for (const id of [...customers, ...suite.made.customers]) {
        expect(await isLeft(stripe.customers.retrieve(id))).toBe(false);
      }
      for (const id of await pricesOf(suite.database)) {
        expect((await stripe.prices.retrieve(id)).active).toBe(false);
      }
    },
    pace.testMs,
  );

  test('Stripe would have taken every request, and given every answer', () => {
    expect(suite.target.faults()).toEqual([]);
  });
});
