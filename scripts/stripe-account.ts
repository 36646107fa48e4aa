import { stripeAccount } from '@tollgate/testbed/config';
import { runJest } from './run-jest.ts';

/**
 * `npm run stripe-account`: payments with the test account at Stripe that STRIPE_TEST_KEY opens
 * (docs/guides/stripe-account.md). An argument picks tests by a part of their names.
 */
const SUITE = 'services/account/test/stripe-account';

function accountOrExit(): void {
  try {
    if (stripeAccount() !== undefined) return;
    console.error('STRIPE_TEST_KEY is not set. See docs/guides/stripe-account.md.');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  }
  process.exit(1);
}

accountOrExit();
const [part = ''] = process.argv.slice(2);
const results = await runJest([SUITE, `--testNamePattern=^a test account at Stripe .*${part}`], {
  title: '\nPayments with a test account at Stripe',
  prints: 'at once',
  interrupted: new AbortController(),
  by: [],
});
process.exit(results.every(({ failed }) => failed === 0) ? 0 : 1);
