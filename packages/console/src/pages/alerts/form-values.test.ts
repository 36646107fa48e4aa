import { expect, test } from '@jest/globals';
import { isShare, settingsOf } from './form-values.ts';

const none = { limits: {} };

test('ticked thresholds and one that was typed but not added count, each once and in order', () => {
  expect(settingsOf({ mail: 'on', shares: '80 100', shares_own: '50' }, none)).toEqual({
    mail: true,
    shares: [50, 80, 100],
    limits: {},
  });
  expect(settingsOf({ shares: '80', shares_own: '80' }, none)).toMatchObject({ mail: false, shares: [80] });
});

test('a limit that the form does not show keeps its thresholds; one that it shows has what was chosen', () => {
  const before = { limits: { traffic_bytes_limit: [10], points_limit: [20], time_sec_limit: [30] } };
  const values = { mode_points_limit: 'own', shares_points_limit: '75', mode_time_sec_limit: 'default' };
  expect(settingsOf(values, before).limits).toEqual({ traffic_bytes_limit: [10], points_limit: [75] });
  expect(settingsOf({ mode_points_limit: 'none' }, before).limits).toMatchObject({ points_limit: [] });
});

test.each([
  [{ shares_own: '120' }, 'shares', 'Enter a whole number from 1 to 100.'],
  [
    { mode_points_limit: 'own', shares_points_limit: '' },
    'shares_points_limit',
    'Choose at least one threshold.',
  ],
  [{ shares: '1 2 3 4 5 6 7 8 9 10', shares_own: '11' }, 'shares', 'Choose at most 10 thresholds.'],
])('%j is refused at %s: %s', (values, field, message) => {
  expect(() => settingsOf(values, none)).toThrow(expect.objectContaining({ field, message }));
});

test.each([
  ['1', true],
  [' 100 ', true],
  ['0', false],
  ['101', false],
  ['1.5', false],
  ['', false],
  ['x', false],
])('%j is a threshold: %s', (text, expected) => {
  expect(isShare(text)).toBe(expected);
});
