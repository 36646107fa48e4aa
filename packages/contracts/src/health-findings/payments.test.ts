import { expect, test } from '@jest/globals';
import type { HealthReport } from '../health-report.ts';
import { checkPayments } from './payments.ts';

const FINE = {
  is_live: false,
  foreign_events: 0,
  oldest_event_sec: 0,
  open_issues: 0,
  reconciled_at: '2026-11-27T11:30:00.000Z' as string | null,
  differences: 0,
};

const report = (changes: Partial<typeof FINE>): HealthReport => ({
  reported_at: '2026-11-27T12:00:00.000Z',
  version: '0.1.0',
  public_url: 'http://127.0.0.1:8080',
  postgres: null,
  redis: null,
  auth: null,
  usage_streams: null,
  payments: { ...FINE, ...changes },
});

test('nothing is said about payments that are not enabled', () => {
  expect(checkPayments({ ...report({}), payments: null })).toEqual([]);
});

test('names subscriptions that Stripe charges although payments are not enabled', () => {
  const unattended_subscriptions = ['sub_1', 'sub_2'];
  expect(checkPayments({ ...report({}), payments: null, unattended_subscriptions })).toMatchObject([
    { check: 'payments', status: 'problem', finding: expect.stringContaining('charging sub_1, sub_2.') },
  ]);
});

test.each([
  ['all is well', {}, 'ok', 'Payments and invoices agree with Stripe.'],
  ['a live key is used for a demonstration', { is_live: true }, 'problem', 'The Stripe key is live'],
  ['events of another account came', { foreign_events: 2 }, 'warning', '2 event(s) of another Stripe mode'],
  ['an event is not handled', { oldest_event_sec: 1_000 }, 'problem', 'has waited for 1000 s'],
  ['the last run is old', { reconciled_at: '2026-11-27T08:00:00.000Z' }, 'problem', '4 hours ago'],
  ['there was no run yet', { reconciled_at: null }, 'warning', 'not been compared with Stripe yet'],
  ['the last run corrected something', { differences: 1 }, 'warning', '1 payment(s) differed from Stripe'],
  ['issues are open', { open_issues: 3 }, 'warning', '3 payment issue(s) are open.'],
])('says that %s', (_what, changes, status, finding) => {
  expect(checkPayments(report(changes))).toMatchObject([
    { check: 'payments', status, finding: expect.stringContaining(finding) },
  ]);
});
