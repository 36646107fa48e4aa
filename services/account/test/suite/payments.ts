import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { startStripeMock } from '@tollgate/testbed/payments/judges';
import { judgePayments } from '@tollgate/testbed/payments/judged-payments';
import type { JudgedPayments } from '@tollgate/testbed/payments/judged-payments';
import {
  SAMPLE_SECRET_KEY,
  SAMPLE_WEBHOOK_SECRET,
  startSamplePayments,
} from '@tollgate/testbed/payments/sample-payments';
import type { SamplePayments } from '@tollgate/testbed/payments/sample-payments';
import { startAccount } from './account-under-test.ts';
import type { AccountUnderTest } from './account-under-test.ts';
import { done } from './billing.ts';
import { newOwner } from './console.ts';
import type { Owner } from './console.ts';
import { insertPeriod } from './database/records.ts';
import { operatorCredentials } from './operator.ts';

/** account over real HTTP to the sample payment server, which Stripe's own judges watch where they can be had. */
export type PaidAccount = SellingAccount & {
  payments: SamplePayments;
  /** What Stripe would not have taken. */
  faults: () => readonly string[];
};

export async function startPaidAccount(settings: Record<string, string> = {}): Promise<PaidAccount> {
  const port = String(await freePort());
  const webhookUrl = `http://127.0.0.1:${port}/payments/stripe/events`;
  const payments = await startSamplePayments({ webhookUrl });
  const mock = await startStripeMock();
  const judged: JudgedPayments | null = mock === null ? null : await judgePayments(payments.url, mock);
  const suite = await startSellingAccount({
    PUBLIC_PORT: port,
    STRIPE_SECRET_KEY: SAMPLE_SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: SAMPLE_WEBHOOK_SECRET,
    STRIPE_API_URL: judged?.url ?? payments.url,
    ...settings,
  });
  return {
    ...suite,
    payments,
    faults: () => judged?.faults ?? [],
    close: async () => {
      await suite.close();
      await judged?.close();
      await payments.stop();
    },
  };
}

export type SellingAccount = AccountUnderTest & { mailDirectory: string };

/** account that takes payments by the Stripe of these settings. */
export async function startSellingAccount(settings: Record<string, string>): Promise<SellingAccount> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-mail-'));
  const mailDirectory = join(directory, 'mail');
  const suite = await startAccount({
    settings: {
      MAIL_DIR: mailDirectory,
      OPERATOR_CREDENTIALS: operatorCredentials,
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
      PAYMENTS: 'stripe',
      ...settings,
    },
  });
  return {
    ...suite,
    mailDirectory,
    close: async () => {
      await suite.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** After a test: nothing is held back or doubled any more, or renewed when the next one moves Stripe's clock. */
export async function leaveTest({ payments }: Pick<PaidAccount, 'payments'>): Promise<void> {
  await payments.post('/sample/deliveries', { hold: 'false', copies: '1' });
  await payments.post('/sample/deliveries/release');
  await payments.post('/sample/subscriptions/forget');
}

export const POINTS = 10_000;

export async function newPack(
  { account }: Pick<PaidAccount, 'account'>,
  changes: Record<string, unknown> = {},
): Promise<number> {
  const wanted = { name: '10,000 points', points: POINTS, currency: 'eur', unit_amount: 1_900, ...changes };
  return (await done<{ pack_id: number }>(account, 'POST', '/private/packs', wanted)).pack_id;
}

export type Buyer = Owner & { period_id: number };

/** An owner with a period that has a points limit. */
export async function newBuyer(
  suite: Pick<PaidAccount, 'account' | 'database'>,
  description: Record<string, unknown> = { points_limit: 100 },
): Promise<Buyer> {
  const owner = await newOwner(suite);
  const period_id = await insertPeriod(suite.database, owner.account_id, { description });
  return { ...owner, period_id };
}

export type Bought = { purchase_id: number; checkout_url: string; state: string; points: number };

export const sessionOf = ({ checkout_url }: Pick<Bought, 'checkout_url'>) =>
  checkout_url.split('/').at(-1) ?? '';

export async function buy({ browser }: Owner, pack_id: number, quantity = 1): Promise<Bought> {
  const { status, text, body } = await browser.request('POST', '/purchases', { pack_id, quantity });
  if (status !== 201) throw new Error(text);
  return body as Bought;
}

/** All events have arrived and are handled, those that handling them brings included, and Stripe knows of all changes. */
export function quiet({ database, payments }: Pick<PaidAccount, 'database' | 'payments'>): Promise<unknown> {
  const isDone = async () =>
    (await payments.pendingEvents()) === 0 &&
    (await database('payment_events').whereNotNull('next_attempt_at')).length === 0 &&
    (await database('stripe_subscriptions').whereNotNull('next_attempt_at')).length === 0;
  // An event that is handled between the two looks may have brought another.
  return waitFor(async () => (await isDone()) && (await isDone()), {
    what: 'events and changes to be handled',
  });
}
