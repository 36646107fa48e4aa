import { expect, test } from '@jest/globals';
import { formatAmount } from './price.ts';

test.each([
  [1_900, { currency: 'eur', decimals: 2 }, '€19.00'],
  [500, { currency: 'jpy', decimals: 0 }, '¥500'],
  // Intl knows no decimals of it; Stripe has two.
  [150_000, { currency: 'isk', decimals: 2 }, 'ISK 1,500.00'],
  [12_340, { currency: 'kwd', decimals: 3 }, 'KWD 12.340'],
])('%s in the minor unit of %j is %s', (amount, price, text) => {
  expect(formatAmount(amount, price).replaceAll('\u00A0', ' ')).toBe(text);
});
