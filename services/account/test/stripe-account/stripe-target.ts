import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';
import { stripeAccount } from '@tollgate/testbed/config';
import { startStripeMock } from '@tollgate/testbed/payments/judges';
import { judgePayments } from '@tollgate/testbed/payments/judged-payments';
import { SAMPLE_SECRET_KEY, startSamplePayments } from '@tollgate/testbed/payments/sample-payments';
import { addressOf } from '../../src/payments/stripe/stripe-provider.ts';

/** What the profile runs against: a test account at Stripe, or our double, with which the profile itself is tested. */
export type StripeTarget = {
  stripe: Stripe;
  secretKey: string;
  /** Undefined for Stripe itself. */
  apiUrl: string | undefined;
  webhookSecret: string;
  /** A debit is decided by its test IBAN; the double is told. */
  decideDebit: (paymentId: string, outcome: 'succeeded' | 'failed') => Promise<void>;
  /** What Stripe would not have taken or answered. */
  faults: () => readonly string[];
  close: () => Promise<void>;
};

/** How long things take there. */
export type Pace = {
  /** From a subscription's beginning until it is renewed: what a test prepares before that fits into it. */
  leadSec: number;
  pollMs: number;
  waitMs: number;
  testMs: number;
};

type Profiled = { name: string; pace: Pace; start: () => Promise<StripeTarget> };

const DOUBLE: Profiled = {
  name: 'our double of Stripe',
  pace: { leadSec: 8, pollMs: 200, waitMs: 60_000, testMs: 150_000 },
  start: startDouble,
};

/** A debit is decided after three minutes, and moving a test clock takes up to one. */
const ACCOUNT_PACE: Pace = { leadSec: 150, pollMs: 2_000, waitMs: 600_000, testMs: 1_800_000 };

/** The double always, and the account if there is a key. */
export function profiled(): Profiled[] {
  const account = stripeAccount();
  if (account === undefined) return [DOUBLE];
  const start = () => Promise.resolve(startAccount(account));
  return [DOUBLE, { name: 'a test account at Stripe', pace: ACCOUNT_PACE, start }];
}

function startAccount({
  secretKey,
  apiUrl,
}: {
  secretKey: string;
  apiUrl: string | undefined;
}): StripeTarget {
  return {
    stripe: clientOf(secretKey, apiUrl),
    secretKey,
    apiUrl,
    webhookSecret: newWebhookSecret(),
    decideDebit: () => Promise.resolve(),
    faults: () => [],
    close: () => Promise.resolve(),
  };
}

async function startDouble(): Promise<StripeTarget> {
  const payments = await startSamplePayments();
  const mock = await startStripeMock();
  const judged = mock === null ? null : await judgePayments(payments.url, mock);
  const apiUrl = judged?.url ?? payments.url;
  return {
    ...startAccount({ secretKey: SAMPLE_SECRET_KEY, apiUrl }),
    decideDebit: async (paymentId, outcome) => {
      await payments.post(`/sample/payments/${paymentId}/settle`, { outcome });
    },
    faults: () => judged?.faults ?? [],
    close: async () => {
      await judged?.close();
      await payments.stop();
    },
  };
}

/** Several attempts: Stripe limits how many requests a test account makes in a second. */
function clientOf(secretKey: string, apiUrl: string | undefined): Stripe {
  return new Stripe(secretKey, { ...addressOf(apiUrl), maxNetworkRetries: 5, telemetry: false });
}

function newWebhookSecret(): string {
  return `whsec_${randomBytes(24).toString('hex')}`;
}
