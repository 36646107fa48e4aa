import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { usageEvent } from '../../../test/suite/usage/usage-streams.ts';
import { readEntry } from './read-entry.ts';

const NOW_MS = Date.parse('2026-07-10T12:00:00Z');
const DAY_MS = 86_400_000;

const event = (changes: Record<string, unknown> = {}) => ({ ...usageEvent({ at_ms: NOW_MS }), ...changes });

const entryOf = (...fields: string[]) => ({ stream: '{s1}:usage', id: '1-0', fields });

const read = (json: string) => readEntry(entryOf('batch', json), NOW_MS);

const readEvents = (...events: unknown[]) => read(JSON.stringify({ gateway_id: 'g', seq: 1, events }));

describe('an entry of a usage stream', () => {
  test('gives its events in order', () => {
    const events = [event(), event({ points: 0, api_version: 'v1' })];
    expect(readEvents(...events)).toMatchObject({
      events: [
        { index: 0, event: events[0] },
        { index: 1, event: events[1] },
      ],
      unassigned: [],
    });
  });

  test.each([
    ['no JSON', 'points=3'],
    ['cut off', '{"gateway_id":"g","seq":1,"events":[{"po'],
    ['another shape', '[]'],
    ['null', 'null'],
    ['without events', '{"gateway_id":"g","seq":1,"events":[]}'],
    ['without a sequence number', `{"gateway_id":"g","events":[${JSON.stringify(event())}]}`],
  ])('that is %s is set aside whole', (_name, json) => {
    expect(read(json)).toMatchObject({
      events: [],
      unassigned: [{ event_index: null, reason: 'malformed_batch', raw: json }],
    });
  });

  test('without a batch field is set aside with what it holds', () => {
    expect(readEntry(entryOf('other', 'batch', 'more', 'x'), NOW_MS).unassigned).toEqual([
      { event_index: null, reason: 'malformed_batch', raw: '["other","batch","more","x"]' },
    ]);
  });

  test.each([
    ['a field missing', event({ period_id: undefined })],
    ['a negative counter', event({ points: -1 })],
    ['a fraction', event({ traffic_bytes: 1.5 })],
    ['text for a number', event({ account_id: '7' })],
    ['another version', event({ api_version: 'v3' })],
    ['a number beyond 2^53', event({ requests: 2 ** 53 })],
    ['nothing', null],
  ])('loses an event with %s, and only that one', (_name, bad) => {
    const { events, unassigned } = readEvents(event(), bad, event());
    expect(events.map(({ index }) => index)).toEqual([0, 2]);
    expect(unassigned).toEqual([{ event_index: 1, reason: 'malformed_event', raw: JSON.stringify(bad) }]);
  });

  test.each([
    ['of two years ago', { at_ms: NOW_MS - 730 * DAY_MS }, 'implausible_time'],
    ['of 1970', { at_ms: 0 }, 'implausible_time'],
    ['of the day after tomorrow', { at_ms: NOW_MS + 2 * DAY_MS }, 'implausible_time'],
    ['of the year 287396', { at_ms: Number.MAX_SAFE_INTEGER }, 'implausible_time'],
    ['with more points than there are', { points: 2e12 }, 'implausible_counter'],
    [
      'with more bytes than one call sends',
      { traffic_bytes: Number.MAX_SAFE_INTEGER },
      'implausible_counter',
    ],
  ])('loses an event %s', (_name, changes, reason) => {
    expect(readEvents(event(changes)).unassigned).toMatchObject([{ event_index: 0, reason }]);
  });

  test.each([-424 * DAY_MS, -1, 0, DAY_MS])('keeps an event that is %d ms from now', (offsetMs) => {
    expect(readEvents(event({ at_ms: NOW_MS + offsetMs })).unassigned).toEqual([]);
  });

  test('never throws, and what it sets aside is text that Postgres can hold', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.constantFrom('\0', '\ud800', '\udc00\0'),
    );
    const fields = fc.oneof(fc.array(text), fc.tuple(fc.constant('batch'), text));
    const events = fc.array(fc.oneof(fc.jsonValue(), fc.constant(event())), { minLength: 1 });
    const batch = events.map((list) => ['batch', JSON.stringify({ gateway_id: 'g', seq: 1, events: list })]);
    fc.assert(
      fc.property(fc.oneof(fields, batch), (given) => {
        const entry = entryOf(...given);
        for (const { raw } of readEntry(entry, NOW_MS).unassigned) {
          expect(raw.isWellFormed()).toBe(true);
          expect(raw).not.toContain('\0');
          expect(raw.length).toBeLessThanOrEqual(16_384);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('neither size nor depth stops it', () => {
    expect(read('x'.repeat(5_000_000)).unassigned[0]?.raw).toHaveLength(16_384);
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(read(`{"gateway_id":"g","seq":1,"events":[${deep}]}`).unassigned).toHaveLength(1);
    expect(read(deep).unassigned).toHaveLength(1);
  });
});
