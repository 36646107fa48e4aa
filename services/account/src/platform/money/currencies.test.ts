import { expect, test } from '@jest/globals';
import { amountFault, decimalsOf } from './currencies.ts';

test.each([
  ['eur', 2],
  ['usd', 2],
  ['jpy', 0],
  ['krw', 0],
  ['kwd', 3],
  ['tnd', 3],
  // Whole units, which Stripe writes with two zeros.
  ['isk', 2],
  ['ugx', 2],
  // Zero decimals in payouts alone.
  ['huf', 2],
  ['twd', 2],
] as const)('%s has %i decimals', (currency, decimals) => {
  expect(decimalsOf(currency)).toBe(decimals);
});

test.each(['zzz', 'EUR', '', 'eu'])('%j is no currency of Stripe', (currency) => {
  expect(decimalsOf(currency)).toBeUndefined();
});

test.each([
  [50, 'eur'],
  [30, 'gbp'],
  [50, 'jpy'],
  [99_999_999, 'usd'],
  [500, 'isk'],
  [5_120, 'kwd'],
] as const)('%i %s can be charged', (amount, currency) => {
  expect(amountFault(amount, currency)).toBeUndefined();
});

test.each([
  [0, 'eur', 'at least 50'],
  [49, 'eur', 'at least 50'],
  [29, 'gbp', 'at least 30'],
  [100_000_000, 'usd', 'at most'],
  [550, 'isk', 'multiple of 100'],
  [5_125, 'kwd', 'multiple of 10'],
] as const)('%i %s cannot be charged', (amount, currency, fault) => {
  expect(amountFault(amount, currency)).toContain(fault);
});
