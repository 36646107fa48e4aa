import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { createResultCount } from './result-count.ts';

const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };
const PARTS = { 'content-type': 'multipart/mixed; boundary="a-b"' };

/** Of a response that arrives in chunks of these sizes. */
async function countOf(
  headers: Record<string, string>,
  body: Buffer,
  sizes: readonly number[],
): Promise<number> {
  const count = createResultCount(headers);
  if (count === null) throw new Error('it is one result');
  for (let at = 0, index = 0; at < body.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    count.saw(body.subarray(at, at + size));
    at += size;
  }
  await count.ended();
  return count.results();
}

const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 });
const long = `{"data":"${'x'.repeat(200)}"}`;

test.each<[string, Record<string, string>, string, number]>([
  [
    'named events',
    EVENTS,
    `event: next\ndata: ${long}\n\nevent: next\ndata: {}\n\nevent: complete\ndata:\n\n`,
    2,
  ],
  ['the end with data', EVENTS, 'event: next\ndata: {}\n\nevent: complete\ndata: {}\n\n', 1],
  ['events without a name', EVENTS, `data: {}\n\ndata:${long}\n\n`, 2],
  ['CR LF, and an id', EVENTS, 'id: 1\r\ndata: {}\r\n\r\ndata: {}\r\n\r\n', 2],
  ['CR alone', EVENTS, 'data: {}\r\rdata: {}\r\r', 2],
  [
    'comments, pings and an unfinished event',
    EVENTS,
    ': x\n\nevent: ping\n\ndata:\n\ndata: {}\n\ndata: {}\n',
    1,
  ],
  ['events of several lines', EVENTS, 'data: {\ndata: }\n\n', 1],
  [
    'parts, each delimiter before its part',
    PARTS,
    '--a-b\r\nx: y\r\n\r\n{}\r\n--a-b\r\n\r\n{}\r\n--a-b--\r\n',
    2,
  ],
  ['parts behind a preamble', PARTS, '\r\n--a-b\r\nx: y\r\n\r\n{}\r\n--a-b--\r\n', 1],
  ['parts whose text has the delimiter', PARTS, `--a-b\n\n{"a":"--a-b"}\n--a-b--`, 1],
  ['a part that has begun', PARTS, '--a-b\r\n\r\n{}\r\n--a-b\r\nx', 2],
  ['a delimiter behind which nothing has come', PARTS, '--a-b\r\n\r\n{}\r\n--a-b\r\n', 1],
])('%s, in any chunks', async (_name, headers, text, results) => {
  await fc.assert(
    fc.asyncProperty(sizes, async (chunks) => {
      expect(await countOf(headers, Buffer.from(text), chunks)).toBe(results);
      const coded = { ...headers, 'content-encoding': 'gzip' };
      expect(await countOf(coded, gzipSync(text), chunks)).toBe(results);
    }),
    { numRuns: 20 },
  );
});

test('a document is one result, and so is what is in an unknown coding', () => {
  expect(createResultCount({ 'content-type': 'application/json' })).toBeNull();
  expect(createResultCount({ ...EVENTS, 'content-encoding': 'exi' })).toBeNull();
});

test('what is not in its coding ends the count', async () => {
  expect(await countOf({ ...EVENTS, 'content-encoding': 'gzip' }, Buffer.from('data: {}\n\n'), [3])).toBe(0);
});
