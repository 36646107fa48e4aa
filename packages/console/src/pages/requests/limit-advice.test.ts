import { expect, test } from '@jest/globals';
import { limitAdvice } from './limit-advice.ts';

const UNLIMITED = {
  points_limit: null,
  time_sec_limit: null,
  traffic_bytes_limit: null,
  rate_limit: null,
  session_limit: null,
  subscription_limit: null,
};

const plan = (name: string, limits: Partial<Record<keyof typeof UNLIMITED, number>>) => ({
  name,
  limits: { ...UNLIMITED, ...limits },
});

const OWN = { ...UNLIMITED, session_limit: 100, traffic_bytes_limit: 2_000_000_000 };

test('names the limit and the plan that raises it least', () => {
  const plans = [
    plan('Enterprise', {}),
    plan('Business', { session_limit: 500 }),
    plan('Standard', { session_limit: 100 }),
    plan('Starter', { session_limit: 20 }),
  ];
  expect(limitAdvice('session_limit_exceeded', OWN, plans)).toBe(
    'Your limit is 100 calls at a time. The plan Business allows 500.',
  );
});

test('names a plan without the limit', () => {
  expect(
    limitAdvice('traffic_limit_exceeded', OWN, [
      plan('Business', { traffic_bytes_limit: 1 }),
      plan('Max', {}),
    ]),
  ).toBe('Your limit is 2 GB of traffic per billing period. The plan Max has no such limit.');
});

test('names no plan that allows no more', () => {
  expect(limitAdvice('session_limit_exceeded', OWN, [plan('Starter', { session_limit: 20 })])).toBe(
    'Your limit is 100 calls at a time.',
  );
  expect(limitAdvice('session_limit_exceeded', OWN, [])).toBe('Your limit is 100 calls at a time.');
});

test.each(['unauthorized', 'rate_limit_exceeded', 'constructor', 'of_a_newer_gateway'])(
  'says nothing of %s without a limit',
  (code) => {
    expect(limitAdvice(code, OWN, [plan('Max', {})])).toBeNull();
  },
);
