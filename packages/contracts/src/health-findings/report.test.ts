import { expect, test } from '@jest/globals';
import { checkReport } from './report.ts';
import type { HealthReport } from '../health-report.ts';

const report: HealthReport = {
  reported_at: '2026-11-29T12:00:00Z',
  version: '0.1.0',
  public_url: 'https://tollgate.example',
  postgres: null,
  redis: null,
  auth: { version: '0.1.0', is_ready: true },
  usage_streams: null,
};

const found = (operator_sign_in: HealthReport['operator_sign_in']) =>
  checkReport({ ...report, ...(operator_sign_in === undefined ? {} : { operator_sign_in }) })
    .filter(({ check }) => check === "operators' sign-in")
    .map(({ status, action }) => [status, action]);

test('an identity provider that doesn’t answer is a finding, worse where no one can sign in past it', () => {
  expect(found(undefined)).toEqual([]);
  expect(found(null)).toEqual([]);
  expect(found({ is_provider_reachable: true, allows_local: false })).toEqual([['ok', null]]);
  expect(found({ is_provider_reachable: false, allows_local: true })).toEqual([
    ['warning', expect.stringContaining('runbook')],
  ]);
  expect(found({ is_provider_reachable: false, allows_local: false })).toEqual([
    ['problem', 'Set OPERATORS_LOCAL to true, and restart account.'],
  ]);
});
