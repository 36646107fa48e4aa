import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { sumOf } from '../../../test/suite/usage/usage-streams.ts';
import { sumHourly, sumTotals } from './aggregate.ts';

const events = fc.array(
  fc.record<UsageEvent>({
    payer_id: fc.constant(1),
    period_id: fc.integer({ min: 1, max: 3 }),
    account_id: fc.integer({ min: 1, max: 12 }),
    application_id: fc.integer({ min: 1, max: 12 }),
    api_version: fc.constantFrom('v1', 'v2'),
    points: fc.nat(),
    requests: fc.nat(1),
    time_ms: fc.nat(),
    traffic_bytes: fc.nat(),
    at_ms: fc.integer({ min: 0, max: 4 }).map((half) => 1_785_000_000_000 + half * 1_800_000),
  }),
);

describe('sums of usage', () => {
  test('totals and hourly rows hold what the events hold, once', () => {
    fc.assert(
      fc.property(events, (all) => {
        const totals = sumTotals(all);
        const hourly = sumHourly(all);
        for (const period_id of [1, 2, 3]) {
          const own = sumOf(all.filter((event) => event.period_id === period_id));
          expect(totals.filter((row) => row.period_id === period_id)).toEqual(
            all.some((event) => event.period_id === period_id) ? [{ period_id, ...own }] : [],
          );
          expect(sumOf(hourly.filter((row) => row.period_id === period_id) as never)).toEqual(own);
        }
      }),
    );
  });

  test('there is one hourly row per hour, period, account, application and version', () => {
    fc.assert(
      fc.property(events, (all) => {
        const rows = sumHourly(all);
        for (const row of rows) {
          const own = all.filter(
            (event) =>
              event.period_id === row.period_id &&
              event.account_id === row.account_id &&
              event.application_id === row.application_id &&
              event.api_version === row.api_version &&
              event.at_ms >= row.hour_ms &&
              event.at_ms < row.hour_ms + 3_600_000,
          );
          expect(row.hour_ms % 3_600_000).toBe(0);
          expect(sumOf(own)).toEqual(sumOf([row as never]));
        }
        expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBe(sumOf(all).requests);
      }),
    );
  });
});
