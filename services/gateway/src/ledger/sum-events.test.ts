import { describe, expect, test } from '@jest/globals';
import { MAX_EVENT_COUNTER, MAX_OPERATIONS_PER_EVENT } from '@tollgate/contracts/usage-stream';
import fc from 'fast-check';
import { sumEvents } from './sum-events.ts';
import type { OperationUse, TimedUsage } from './usage-event.ts';

const HOUR_MS = 3_600_000;
const counter = fc.oneof(fc.nat(1_000), fc.integer({ min: MAX_EVENT_COUNTER - 5, max: MAX_EVENT_COUNTER }));
const some = fc.integer({ min: 1, max: 2 });

function useOf(index: number, isError = false, durationMs: number | null = 7): OperationUse {
  const document = { hash: String(index).padStart(64, '0'), text: null, sentAtMs: 0 };
  return {
    counted: { document, name: index % 2 === 0 ? 'Read' : null },
    isError,
    durationMs,
    estimatedPoints: null,
  };
}

const operation = fc.option(
  fc.tuple(fc.nat({ max: 30 }), fc.boolean()).map(([index, isError]) => useOf(index, isError)),
  { freq: 20 },
);
const events = fc.array(
  fc.record<TimedUsage>({
    payer_id: some,
    period_id: some,
    account_id: some,
    application_id: some,
    api_version: fc.constantFrom('v1', 'v2'),
    points: counter,
    requests: fc.nat(1),
    time_ms: counter,
    traffic_bytes: counter,
    at_ms: fc.integer({ min: 0, max: 3 }).map((half) => 1_785_000_000_000 + (half * HOUR_MS) / 2),
    operation,
  }),
  { maxLength: 60 },
);

type Row = Omit<TimedUsage, 'operation'>;

const rowOf = ({ payer_id, period_id, account_id, application_id, api_version, at_ms }: Row) =>
  JSON.stringify([payer_id, period_id, account_id, application_id, api_version, Math.floor(at_ms / HOUR_MS)]);

/** What account would count, by hourly row. */
function counted(all: readonly Row[]) {
  const rows = new Map<string, bigint[]>();
  for (const event of all) {
    const { points, requests, time_ms, traffic_bytes } = event;
    const before = rows.get(rowOf(event)) ?? [];
    const added = [points, requests, time_ms, traffic_bytes].map(
      (value, index) => (before[index] ?? 0n) + BigInt(value),
    );
    rows.set(rowOf(event), added);
  }
  return rows;
}

describe('the sum of a batch', () => {
  test('holds for each hourly row what its events hold, and no counter that account would set aside', () => {
    fc.assert(
      fc.property(events, (all) => {
        const before = structuredClone(all);
        const sums = sumEvents(all);
        expect(counted(sums)).toEqual(counted(all));
        for (const { points, requests, time_ms, traffic_bytes } of sums)
          expect(Math.max(points, requests, time_ms, traffic_bytes)).toBeLessThanOrEqual(MAX_EVENT_COUNTER);
        expect(all).toEqual(before);
      }),
    );
  });

  test('is one event for each row where nothing is implausible', () => {
    fc.assert(
      fc.property(events, (all) => {
        const small = all.map((event) => ({ ...event, points: 1, time_ms: 0, traffic_bytes: 300 }));
        expect(sumEvents(small).map(rowOf)).toEqual([...new Set(small.map(rowOf))]);
      }),
    );
  });

  test('has the time of the first of its calls', () => {
    const event = {
      payer_id: 1,
      period_id: 1,
      account_id: 1,
      application_id: 1,
      api_version: 'v2' as const,
      points: 3,
      requests: 1,
      time_ms: 0,
      traffic_bytes: 300,
      at_ms: 1_785_000_000_000,
    };
    const first = { ...event, operation: null };
    expect(sumEvents([first, { ...first, at_ms: event.at_ms + 5, points: 4 }])).toEqual([
      { ...event, points: 7, requests: 2, traffic_bytes: 600 },
    ]);
  });

  test('compares what operations cost with their estimates', () => {
    const event = { payer_id: 1, period_id: 1, account_id: 1, application_id: 1, api_version: 'v2' as const };
    const used = (index: number, points: number, estimatedPoints: number | null): TimedUsage => ({
      ...event,
      points,
      requests: 1,
      time_ms: 0,
      traffic_bytes: 1,
      at_ms: 1_785_000_000_000,
      operation: { ...useOf(index), estimatedPoints },
    });
    const [sum] = sumEvents([
      used(1, 5, 4),
      used(1, 2, 4),
      used(1, 9, null),
      used(3, 1, null),
      used(1, 6, 4),
    ]);
    const figures = {
      requests: 3,
      points: 13,
      estimated_points: 12,
      exceeding_requests: 2,
      excess_points: 3,
    };
    expect(sum?.operations?.map(({ compared }) => compared)).toEqual([figures, undefined]);
  });

  test('has the operations with the most points, the others together, and nothing that its calls lack', () => {
    fc.assert(
      fc.property(events, (all) => {
        const small = all.map((event, index) => {
          const ids = { payer_id: 1, period_id: 1, account_id: 1 };
          return { ...event, ...ids, points: index % 9, time_ms: 0, traffic_bytes: 300 };
        });
        for (const [row, uses] of Map.groupBy(small, rowOf)) {
          const operations = sumEvents(small).find((sum) => rowOf(sum) === row)?.operations ?? [];
          const known = uses.filter((use) => use.operation !== null);
          const sumOf = (field: 'points' | 'requests' | 'errors') =>
            operations.reduce((sum, one) => sum + one[field], 0);
          expect(sumOf('points')).toBe(known.reduce((sum, { points }) => sum + points, 0));
          expect(sumOf('requests')).toBe(known.reduce((sum, { requests }) => sum + requests, 0));
          expect(sumOf('errors')).toBe(
            known.reduce((sum, use) => sum + (use.operation?.isError === true ? use.requests : 0), 0),
          );
          const durations = operations.flatMap((one) => one.durations.map(([, times]) => times));
          expect(durations.reduce((sum, times) => sum + times, 0)).toBe(known.length);
          const named = operations.filter(({ hash }) => hash !== null);
          const least = Math.min(...named.map(({ points }) => points));
          expect(named.length).toBeLessThanOrEqual(MAX_OPERATIONS_PER_EVENT);
          for (const { operation: use } of known) {
            const { hash } = use?.counted.document ?? { hash: '' };
            const ofIt = known.filter((one) => one.operation?.counted.document.hash === hash);
            const isNamed = named.some((one) => one.hash === hash);
            if (!isNamed)
              expect(ofIt.reduce((sum, { points }) => sum + points, 0)).toBeLessThanOrEqual(least);
          }
        }
      }),
    );
  });
});
