import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import type { Names } from '../names.ts';
import { csvFileName, usageCsv } from './csv.ts';
import { usageSeries } from './series.ts';
import type { UsageRow } from '../store.ts';

const DAY = new Date('2026-03-29T00:00:00Z');
const head = {
  account_id: 1,
  payer_id: 1,
  view: 'billed' as const,
  range: { interval: 'day' as const, from: DAY, to: new Date('2026-03-31T00:00:00Z') },
  billing_period: null,
};
const row = (group_id: UsageRow['group_id'], bucket = DAY): UsageRow => ({
  bucket,
  group_id,
  points: 5,
  requests: 2,
  time_ms: 1_999,
  traffic_bytes: 7,
});

/** Read by a parser that isn't ours, and strict. */
function read(csv: string): string[][] {
  return parse(csv, { record_delimiter: '\r\n', relax_column_count: false });
}

function ofMembers(...names: Names[]): string {
  const rows = names.map((_name, index) => row(index));
  return usageCsv(usageSeries({ ...head, group_by: 'member' }, rows, (id) => names[Number(id)] ?? {}));
}

describe('the CSV of usage', () => {
  test('by time has a line for each bucket, without usage too', () => {
    const series = usageSeries({ ...head, group_by: 'none' }, [row(null)], () => ({}));
    expect(usageCsv(series)).toBe(
      'started_at,points_usage,requests_usage,time_sec_usage,traffic_bytes_usage\r\n' +
        '2026-03-29T00:00:00Z,5,2,1,7\r\n' +
        '2026-03-30T00:00:00Z,0,0,0,0\r\n',
    );
    expect(csvFileName(series)).toBe('usage-2026-03-29-to-2026-03-30-by-day.csv');
  });

  test('by hour is called after its first and last hour', () => {
    const range = { interval: 'hour' as const, from: DAY, to: new Date('2026-03-29T02:00:00Z') };
    const series = usageSeries({ ...head, range, group_by: 'api_version' }, [row('v1')], () => ({}));
    expect(csvFileName(series)).toBe('usage-2026-03-29T00-to-2026-03-29T01-by-hour-and-api-version.csv');
    expect(read(usageCsv(series)).slice(1)).toEqual([['2026-03-29T00:00:00Z', 'v1', '5', '2', '1', '7']]);
  });

  test('keeps whatever people are called, and no cell of it is a formula', () => {
    const odd = fc.string({
      unit: fc.constantFrom(
        '=',
        '+',
        '-',
        '@',
        '\t',
        '\r',
        '\n',
        '"',
        ',',
        ';',
        "'",
        ' ',
        'é',
        '＝',
        '🚪',
        '1',
      ),
    });
    fc.assert(
      fc.property(fc.array(fc.record({ name: odd, email: odd }), { minLength: 1 }), (people) => {
        const lines = read(ofMembers(...people.map((person) => ({ ...person, in_team: true })))).slice(1);
        expect(lines).toHaveLength(people.length);
        for (const [index, person] of people.entries()) {
          const cells = lines[index]?.slice(2, 4) ?? [];
          expect(cells.map((cell) => cell.replace(/^'(?=[=+\-@\t\r\n＝＋－＠])/u, ''))).toEqual(
            [person.name, person.email].map((text) => text.replace(/^'(?=[=+\-@\t\r\n＝＋－＠])/u, '')),
          );
          for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/u);
        }
      }),
    );
  });

  test('leaves unknown names empty', () => {
    expect(read(ofMembers({ name: null, email: null, in_team: false })).slice(1)).toEqual([
      ['2026-03-29T00:00:00Z', '0', '', '', '5', '2', '1', '7'],
    ]);
  });
});
