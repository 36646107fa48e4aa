import { expect, test } from '@jest/globals';
import { periodStart } from '../../src/billing/periods/calendar.ts';
import { borderAt } from './border.ts';

const DAY_SEC = 86_400;
const NOON = Date.UTC(2027, 0, 1, 12) / 1_000;

test('on every day of four years, a subscription that begins then is renewed at the border', () => {
  const days = Array.from({ length: 4 * 366 }, (_, day) => NOON + day * DAY_SEC);
  for (const renewsAt of days) {
    const { billing_interval, startedAt } = borderAt(renewsAt);
    const renewed = periodStart(new Date(startedAt * 1_000), billing_interval, 1);
    expect(renewed).toEqual(new Date(renewsAt * 1_000));
  }
});

test.each([
  ['2026-11-29', 'month', '2026-10-29'],
  ['2028-02-29', 'month', '2028-01-29'],
  ['2026-10-31', 'year', '2025-10-31'],
  ['2027-03-30', 'year', '2026-03-30'],
])('one that is renewed on %s began a %s before', (renewed, billing_interval, began) => {
  const at = (day: string) => Date.parse(`${day}T12:00:00Z`) / 1_000;
  expect(borderAt(at(renewed))).toMatchObject({ billing_interval, startedAt: at(began) });
});
