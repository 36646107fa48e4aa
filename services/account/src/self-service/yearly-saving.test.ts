import { expect, test } from '@jest/globals';
import { yearlySavingPercent } from './yearly-saving.ts';

const price = (unit_amount: number, currency = 'eur', tax_behavior = 'exclusive') => ({
  unit_amount,
  currency,
  tax_behavior,
});

test.each([
  ['two months free', price(2_900), price(29_000), 16],
  ['a discount of exactly a fifth', price(1_000), price(9_600), 20],
  ['twelve months', price(1_000), price(12_000), null],
  ['less than a percent', price(1_000), price(11_990), null],
  ['a dearer year', price(1_000), price(13_000), null],
  ['nothing', price(0), price(0), null],
  ['another currency', price(1_000), price(9_600, 'usd'), null],
  ['another tax', price(1_000), price(9_600, 'eur', 'inclusive'), null],
  ['no month', undefined, price(9_600), null],
  ['no year', price(1_000), undefined, null],
])('the saving of a year that costs %s', (_what, month, year, percent) => {
  expect(yearlySavingPercent(month, year)).toBe(percent);
});
