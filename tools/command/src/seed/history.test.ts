import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { monthsBefore, pastPeriods, pastUsage } from './history.ts';
import { demoAccount } from './demonstration.ts';

const instant = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
  .map((at) => new Date(Math.floor(at.getTime() / 1_000) * 1_000));

test('past periods follow one another to the second and end before the instant', () => {
  fc.assert(
    fc.property(instant, fc.integer({ min: 1, max: 24 }), (before, months) => {
      const periods = pastPeriods(before, months);
      let next = before.getTime();
      for (const { started_at, ended_at } of periods) {
        expect(Date.parse(ended_at)).toBe(next - 1_000);
        expect(Date.parse(started_at)).toBeLessThan(Date.parse(ended_at));
        next = Date.parse(started_at);
      }
    }),
  );
});

test('usage is the same each time, lies within its span, and has a key for each event', () => {
  const to = new Date('2026-03-31T12:34:56Z');
  const wanted = {
    from: monthsBefore(to, 3),
    to,
    account_id: 7,
    applicationIds: [1, 2],
    pointsPerMonth: 100_000,
    seed: 5,
  };
  const events = pastUsage(wanted);
  expect(pastUsage(wanted)).toEqual(events);
  expect(events.length).toBeGreaterThan(500);
  expect(new Set(events.map(({ idempotency_key }) => idempotency_key)).size).toBe(events.length);
  for (const { occurred_at } of events) {
    expect(Date.parse(occurred_at)).toBeGreaterThanOrEqual(wanted.from.getTime());
    expect(Date.parse(occurred_at)).toBeLessThan(to.getTime());
  }
  const sum = events.reduce((points, event) => points + event.points, 0);
  expect(sum).toBeGreaterThan(200_000);
  expect(sum).toBeLessThan(400_000);
  expect(new Set(events.map(({ api_version }) => api_version))).toEqual(new Set(['v1', 'v2']));
});

test('of more accounts the first are the same, and all kinds come among ten', () => {
  expect(demoAccount(3)).toEqual(demoAccount(3));
  const ten = Array.from({ length: 10 }, (_, index) => demoAccount(index + 1));
  expect(new Set(ten.map(({ scenario }) => scenario)).size).toBe(7);
  expect(new Set(ten.map(({ email }) => email)).size).toBe(10);
});
