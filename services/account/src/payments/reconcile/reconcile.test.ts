import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Problem } from '@tollgate/http/problem';
import { waitFor } from '@tollgate/stack/wait-for';
import { SAMPLE_SECRET_KEY, SAMPLE_WEBHOOK_SECRET } from '@tollgate/testbed/payments/sample-payments';
import { operatePath } from '../../../test/suite/operator.ts';
import {
  POINTS,
  buy,
  leaveTest,
  newBuyer,
  newPack,
  sessionOf,
  startPaidAccount,
} from '../../../test/suite/payments.ts';
import type { PaidAccount } from '../../../test/suite/payments.ts';
import { createLockInstant } from '../../counting/stream/lock-instant.ts';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import { createInstallationId } from '../installation-id.ts';
import { createStripeProvider } from '../stripe/stripe-provider.ts';
import { reconcile as runReconcile } from './reconcile.ts';

let suite: PaidAccount;

beforeAll(async () => {
  // An invoice would be a difference of its own.
  suite = await startPaidAccount({ STRIPE_PACK_INVOICES: 'false' });
});

afterAll(() => suite.close());

afterEach(() => leaveTest(suite));

const reconcile = async (body: Record<string, unknown> = {}) =>
  (await operatePath(suite.account, 'POST', '/private/payments/reconcile', body)).body;

/** Points that an account has left. */
async function pointsOf(account_id: number): Promise<number[]> {
  return suite
    .database('credit_grants')
    .where({ account_id })
    .andWhere('points_remaining', '>', 0)
    .orderBy('credit_id')
    .pluck<number[]>('points_remaining');
}

test('finds a payment and a refund whose events never came; a dry run only says so', async () => {
  const [buyer, pack] = [await newBuyer(suite), await newPack(suite)];
  const { account_id } = buyer;
  await suite.payments.post('/sample/deliveries', { hold: 'true' });
  const bought = await buy(buyer, pack);
  const session = sessionOf(bought);
  const { payment_intent } = await suite.payments.post(`/sample/sessions/${session}/pay`);
  const purchase = `purchase ${String(bought.purchase_id)}`;
  const paid = { object_id: session, change: `${purchase}: open to paid` };
  expect(await reconcile({ dry_run: true })).toMatchObject({ failed: 0, differences: [paid] });
  expect(await pointsOf(account_id)).toEqual([]);
  expect(await reconcile()).toMatchObject({ failed: 0, differences: [paid] });
  expect(await pointsOf(account_id)).toEqual([POINTS]);
  expect(await reconcile()).toMatchObject({ differences: [] });

  await suite.payments.post('/v1/refunds', { payment_intent: String(payment_intent), amount: '950' });
  const change = `${purchase}: 5000 points to be taken back instead of 0`;
  expect(await reconcile()).toMatchObject({ differences: [{ object_id: payment_intent, change }] });
  await waitFor(async () => (await pointsOf(account_id))[0] === POINTS / 2);
  const runs = await suite.database('payment_reconciliations').orderBy('reconciliation_id');
  expect(runs.at(-1)).toMatchObject({ differences: 1 });
  const entries = await suite.database('audit_log').where({ action: 'payments_reconciled' });
  expect(entries).toHaveLength(3);
});

test('grants what the database has forgotten', async () => {
  const [buyer, pack] = [await newBuyer(suite), await newPack(suite)];
  await suite.payments.post('/sample/deliveries', { hold: 'true' });
  const bought = await buy(buyer, pack);
  await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
  await suite.database('purchases').where({ purchase_id: bought.purchase_id }).delete();
  await reconcile({ since: new Date(Date.now() - 60_000).toISOString() });
  expect(await pointsOf(buyer.account_id)).toEqual([POINTS]);
});

test('refunds nothing that was paid before the account was erased', async () => {
  const [buyer, pack] = [await newBuyer(suite), await newPack(suite)];
  const { account_id } = buyer;
  const bought = await buy(buyer, pack);
  const { payment_intent } = await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
  await waitFor(async () => (await pointsOf(account_id)).length === 1);
  await suite.database('accounts').where({ account_id }).update({ erased_at: new Date() });
  expect(await reconcile()).toMatchObject({ failed: 0 });
  const path = `${suite.payments.url}/v1/refunds?payment_intent=${String(payment_intent)}`;
  const answer = await fetch(path, { headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` } });
  expect([answer.status, await answer.json()]).toMatchObject([200, { data: [] }]);
  expect(await pointsOf(account_id)).toEqual([POINTS]);
});

test('does not log what a dry run would refund as refunded', async () => {
  const [buyer, pack] = [await newBuyer(suite), await newPack(suite)];
  const { account_id } = buyer;
  await suite.payments.post('/sample/deliveries', { hold: 'true' });
  const bought = await buy(buyer, pack);
  await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
  await suite.database('accounts').where({ account_id }).update({ erased_at: new Date() });
  const refunds = () =>
    suite.account
      .logs()
      .split('\n')
      .filter(
        (line) => line.includes('payment refunded') && line.includes(`"account_id":${String(account_id)},`),
      );
  const difference = { object_id: sessionOf(bought) };
  expect(await reconcile({ dry_run: true })).toMatchObject({ differences: [difference] });
  expect(refunds()).toEqual([]);
  expect(await reconcile()).toMatchObject({ is_complete: true, differences: [difference] });
  await waitFor(() => refunds().length === 1, { what: 'the refund to be logged' });
});

test('states what it applied until Stripe was away', async () => {
  const [buyer, pack] = [await newBuyer(suite), await newPack(suite)];
  await suite.payments.post('/sample/deliveries', { hold: 'true' });
  const bought = await buy(buyer, pack);
  await suite.payments.post(`/sample/sessions/${sessionOf(bought)}/pay`);
  const stripe = createStripeProvider({
    secretKey: SAMPLE_SECRET_KEY,
    webhookSecrets: [SAMPLE_WEBHOOK_SECRET],
    apiUrl: suite.payments.url,
    installationId: createInstallationId(createQuery(suite.database)),
  });
  const needs = {
    query: createQuery(suite.database),
    transact: createTransact(suite.database),
    lockInstant: createLockInstant(suite.store),
    paymentGraceSec: 604_800,
    provider: {
      ...stripe,
      listReversedPayments: () => {
        throw new Problem('payments_unavailable');
      },
    },
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
  const run = await runReconcile(needs, { since: new Date(), isDryRun: false });
  const change = `purchase ${String(bought.purchase_id)}: open to paid`;
  expect(run).toMatchObject({ isComplete: false, differences: [{ object_id: sessionOf(bought), change }] });
  expect(await pointsOf(buyer.account_id)).toEqual([POINTS]);
});

test('says so when Stripe is away, and is due again', async () => {
  await suite.account.stop();
  await suite.account.restart({ STRIPE_API_URL: 'http://127.0.0.1:9' });
  expect(await reconcile()).toMatchObject({ code: 'payments_unavailable' });
  await suite.account.stop();
  await suite.account.restart();
  expect(await reconcile()).toMatchObject({ failed: 0 });
});

test('runs by itself', async () => {
  await suite.database('payment_reconciliations').delete();
  await suite.account.stop();
  await suite.account.restart();
  await waitFor(async () => (await suite.database('payment_reconciliations')).length > 0, {
    what: 'a reconciliation',
  });
});
