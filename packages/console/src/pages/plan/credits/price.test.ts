import { expect, test } from '@jest/globals';
import { formatAmount, packTerms } from './price.ts';

test.each([
  [1_900, { currency: 'eur', decimals: 2 }, '€19.00'],
  [500, { currency: 'jpy', decimals: 0 }, '¥500'],
  // Intl knows no decimals of it; Stripe has two.
  [150_000, { currency: 'isk', decimals: 2 }, 'ISK 1,500.00'],
  [12_340, { currency: 'kwd', decimals: 3 }, 'KWD 12.340'],
])('%s in the minor unit of %j is %s', (amount, price, text) => {
  expect(formatAmount(amount, price).replaceAll('\u00A0', ' ')).toBe(text);
});

test.each([
  [10_000, 365, 'Including tax. 10,000 points that expire 365 days after the purchase.'],
  [10_000, 1, 'Including tax. 10,000 points that expire 1 day after the purchase.'],
  [1, null, 'Including tax. 1 point that never expires.'],
])('a pack of %s points for %s days is "%s"', (points, expires_after_days, text) => {
  expect(packTerms({ points, expires_after_days, tax_behavior: 'inclusive' })).toBe(text);
});
