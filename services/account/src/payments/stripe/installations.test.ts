import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { SAMPLE_SECRET_KEY } from '@tollgate/testbed/payments/sample-payments';
import { done } from '../../../test/suite/billing.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { leaveTest, newBuyer, newPack, quiet, startPaidAccount } from '../../../test/suite/payments.ts';
import type { PaidAccount } from '../../../test/suite/payments.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import type { PaymentProvider } from '../provider.ts';
import { metadataOf as metadataOfPurchase } from '../purchases/metadata.ts';
import type { Purchase } from '../purchases/store.ts';
import { metadataOf as metadataOfSubscription } from '../subscriptions/metadata.ts';
import type { StripeSubscription } from '../subscriptions/store.ts';
import { metadataOf as metadataOfTopUp } from '../top-ups/metadata.ts';
import { createStripeProvider } from './stripe-provider.ts';

/** Another installation of Tollgate uses the same account at Stripe, which tells both of everything. */

let suite: PaidAccount;
let other: PaymentProvider;

beforeAll(async () => {
  suite = await startPaidAccount();
  other = providerOf(randomUUID());
});

afterAll(() => suite.close());

afterEach(() => leaveTest(suite));

const providerOf = (installation: string) =>
  createStripeProvider({
    secretKey: SAMPLE_SECRET_KEY,
    webhookSecrets: ['whsec_other'],
    apiUrl: suite.payments.url,
    installationId: () => Promise.resolve(installation),
  });

/** Their account has the ID that one of ours has. */
const theirCustomer = ({ account_id }: Owner) =>
  other.createCustomer({ account_id, email: `other-${String(account_id)}@example.com`, name: 'Other' });

type Sold = { mode: 'payment' | 'subscription'; metadata: Record<string, string> };

/** What is bought there is paid. Resolves to the id of its page. */
async function theySell(owner: Owner, { mode, metadata }: Sold): Promise<string> {
  const price_id = await other.ensurePrice({
    lookup_key: randomUUID(),
    name: 'Theirs',
    currency: 'eur',
    unit_amount: 1_900,
    tax_behavior: 'exclusive',
    ...(mode === 'subscription' && { billing_interval: 'month' as const }),
  });
  const { session_id } = await other.openCheckout({
    key: randomUUID(),
    mode,
    customer_id: await theirCustomer(owner),
    price_id,
    quantity: 1,
    success_url: 'http://127.0.0.1/paid',
    cancel_url: 'http://127.0.0.1/',
    metadata,
  });
  await suite.payments.post(`/sample/sessions/${session_id}/pay`);
  return session_id;
}

const pointsOf = ({ account_id }: Owner) =>
  suite.database('credit_grants').where({ account_id }).pluck<number[]>('points');

async function reconciled(): Promise<Record<string, unknown>> {
  const since = new Date(Date.now() - 60_000).toISOString();
  return (await operatePath(suite.account, 'POST', '/private/payments/reconcile', { since })).body;
}

test('a pack that is sold there grants no points here, and its refund takes none', async () => {
  const [owner, pack_id] = [await newBuyer(suite), await newPack(suite)];
  const { account_id } = owner;
  const purchase = { purchase_key: randomUUID(), account_id, pack_id, pack_name: 'Theirs', quantity: 1 };
  const sold = { points: 500, currency: 'eur', amount: 1_900, expires_after_days: null };
  const metadata = metadataOfPurchase({ ...purchase, ...sold } as Purchase);
  const session_id = await theySell(owner, { mode: 'payment', metadata });
  await quiet(suite);
  expect(await pointsOf(owner)).toEqual([]);
  const payment_intent = (await other.readCheckout(session_id))?.payment_id ?? '';
  await suite.payments.post('/v1/refunds', { payment_intent });
  await quiet(suite);
  expect(await reconciled()).toMatchObject({ failed: 0, differences: [] });
  expect(await pointsOf(owner)).toEqual([]);
  expect(await suite.database('payment_issues').where({ object_id: payment_intent })).toEqual([]);
});

test('a plan that is sold there neither starts here, nor is it ended and refunded', async () => {
  const owner = await newOwner(suite);
  const made = { name: 'Ours', description: { points_limit: 5_000 } };
  const { plan_id } = await done<{ plan_id: number }>(suite.account, 'POST', '/private/plans', made);
  const checkout = { checkout_key: randomUUID(), account_id: owner.account_id, plan_id, amount: 1_900 };
  const sold = { ...checkout, billing_interval: 'month', currency: 'eur' } as StripeSubscription;
  const session_id = await theySell(owner, { mode: 'subscription', metadata: metadataOfSubscription(sold) });
  await quiet(suite);
  expect(await reconciled()).toMatchObject({ failed: 0, differences: [] });
  const { account_id } = owner;
  expect(await suite.database('billing_periods').where({ account_id })).toEqual([]);
  expect(await suite.database('stripe_subscriptions').where({ account_id })).toEqual([]);
  const { subscription_id = '' } = (await other.readCheckout(session_id)) ?? {};
  expect(await other.readSubscription(subscription_id)).toMatchObject({ isEnded: false, isPaid: true });
});

test('an automatic top-up there grants no points here', async () => {
  const [owner, pack_id] = [await newBuyer(suite), await newPack(suite)];
  const { account_id } = owner;
  const sold = { account_id, pack_id, pack_name: 'Theirs', points: 500, currency: 'eur', amount: 1_900 };
  const customer_id = await theirCustomer(owner);
  await suite.payments.post('/v1/payment_methods/pm_card_visa/attach', { customer: customer_id });
  const key = randomUUID();
  const payment_id = await other.preparePayment({
    key,
    customer_id,
    payment_method_id: (await other.findPaymentMethod(customer_id)) ?? '',
    amount: sold.amount,
    currency: sold.currency,
    description: sold.pack_name,
    metadata: metadataOfTopUp({ ...sold, top_up_key: key, expires_after_days: null }),
  });
  expect((await other.confirmPayment(payment_id)).state).toBe('paid');
  await quiet(suite);
  expect(await reconciled()).toMatchObject({ failed: 0, differences: [] });
  expect(await pointsOf(owner)).toEqual([]);
});

test('one person with the same account ID at both is two customers', async () => {
  const account = { account_id: 1, email: 'founder@example.com', name: 'Founder' };
  const theirs = await other.createCustomer(account);
  expect(await providerOf(randomUUID()).createCustomer(account)).not.toBe(theirs);
  expect(await other.createCustomer(account)).toBe(theirs);
});

test('what one made before installations were told apart stays its own', async () => {
  const email = 'early@example.com';
  const early = await suite.payments.post('/v1/customers', { email, 'metadata[account_id]': '1' });
  expect(await other.createCustomer({ account_id: 1, email, name: 'Early' })).toBe(early['id']);
});
