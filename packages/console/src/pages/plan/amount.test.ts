import { expect, test } from '@jest/globals';
import { FieldError } from '../../ui/form/field-error.ts';
import { amountIn, typedAmount, wholeIn } from './amount.ts';

test.each([
  ['19', 2, 1_900],
  ['19.5', 2, 1_950],
  [' 0.29 ', 2, 29],
  ['1900', 0, 1_900],
  ['1.234', 3, 1_234],
])('%j with %i decimals is %i', (typed, decimals, amount) => {
  expect(amountIn(typed, 'max_amount', { decimals })).toBe(amount);
  expect(amountIn(typedAmount(amount, { decimals }), 'max_amount', { decimals })).toBe(amount);
});

test.each([
  ['', 2],
  ['1.999', 2],
  ['1.5', 0],
  ['-1', 2],
  ['1,50', 2],
  ['€5', 2],
])('%j with %i decimals is no amount', (typed, decimals) => {
  expect(() => amountIn(typed, 'max_amount', { decimals })).toThrow(FieldError);
});

test('a whole number may have commas between its digits', () => {
  expect(wholeIn('10,000', 'threshold_points')).toBe(10_000);
  expect(() => wholeIn('1.5', 'threshold_points')).toThrow(FieldError);
});
