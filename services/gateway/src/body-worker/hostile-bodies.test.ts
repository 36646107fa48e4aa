import { afterAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createReading } from '../../test/suite/reading.ts';
import { openLongBodies } from './open-long-bodies.ts';

const MIB = 1_048_576;
const MAX_BYTES = MIB;
/** As worker-pool.ts: two threads, each with a heap by the length of bodies. */
const THREADS = 2;
const THREAD_MAX_BYTES = (128 + 64) * MIB;
/** What this process takes beside them: bodies and texts that wait, and garbage. */
const SLACK_BYTES = 256 * MIB;

const OFF = {
  maxDepth: 0,
  maxAliases: 0,
  maxRootFields: 0,
  maxDirectives: 0,
  maxTokens: 0,
  introspection: true,
};

const longBodies = openLongBodies({ maxBodyBytes: MAX_BYTES });
afterAll(() => longBodies.close());

/** Without guards, so that what they would refuse reaches the threads. */
const read = createReading({
  texts: {
    apiVersion: 'v2',
    sdl: `
      directive @listSize(slicingArguments: [String!]) on FIELD_DEFINITION
      scalar JSON
      input Page { first: Int tags: [String] deeper: [Page] blob: JSON }
      type Query {
        users(first: Int): [User] @listSize(slicingArguments: ["first"])
        page(input: Page): [User] @listSize(slicingArguments: ["input.first", "input.tags"])
        keep(blob: JSON): Int
      }
      type User { name: String friends(first: Int = 3): [User] @listSize(slicingArguments: ["first"]) }
    `,
    costs: '{"weights":{"Page.deeper":"0.5"}}',
    preset: 'ibm',
    listSize: 10,
  },
  stored: new Map([['stored', 'query ($v: JSON) { keep(blob: $v) }']]),
  guards: OFF,
  maxDocumentBytes: 65_536,
  maxBytes: MAX_BYTES,
  openLongBody: longBodies.open,
  longBodyMinBytes: 0,
});

const doubling = (count: number) =>
  `{ users { ...F0 } } ${Array.from({ length: count }, (_, index) => {
    const next = `...F${String(index + 1)}`;
    return `fragment F${String(index)} on User { a: friends { ${next} } b: friends { ${next} } }`;
  }).join(' ')} fragment F${String(count)} on User { name }`;

const DOCUMENTS = [
  'query ($v: JSON) { keep(blob: $v) }',
  'query ($v: Page) { page(input: $v) { name } }',
  'query ($v: Int) { users(first: $v) { friends(first: $v) { friends(first: $v) { name } } } }',
  `query ($v: Page) { ${Array.from({ length: 2_000 }, (_, index) => `a${String(index)}: page(input: $v) { name }`).join(' ')} }`,
  `{ ${'users { friends { '.repeat(1_500)} name ${'} }'.repeat(1_500)} }`,
  `{ users(first: ${'9'.repeat(60_000)}) { name } }`,
  `{ page(input: ${'{ deeper: ['.repeat(3_000)}${'] }'.repeat(3_000)}) { name } }`,
  doubling(26),
  doubling(700),
  '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
  `{ users { name } } #${'\u202e'.repeat(20_000)}`,
  `{ keep(blob: """${'x'.repeat(60_000)}""") }`,
  '{ users(first: 1e999) { name } }',
  '{ "',
];

const unit = fc.constantFrom(
  '0', '-0', '1.0', '-1e999', '99999999999999999999', '""', '"\\uD800"', '"\\u0000"', '"\u202e😀"', '{}', '[]', 'null',
  '{"a":1,"a":2}', '{"__proto__":[]}', '{"first":9,"deeper":[{"first":1}]}', '[[[[[[[[]]]]]]]]',
); // prettier-ignore
const length = fc.constantFrom(300, 50_000, 300_000, 1_000_000);

const repeated = fc.tuple(unit, length).map(([text, total]) => {
  const count = Math.max(1, Math.floor(total / (text.length + 1)));
  return `[${new Array(count).fill(text).join()}]`;
});
const named = length.map(
  (total) => `{${Array.from({ length: total / 12 }, (_, index) => `"n${String(index)}":0`).join()}}`,
);
const deep = fc
  .tuple(repeated, fc.nat({ max: 70 }))
  .map(([inner, levels]) => `${'{"deeper":['.repeat(levels / 2)}${inner}${']}'.repeat(levels / 2)}`);
const values = fc.oneof(
  repeated,
  named,
  deep,
  length.map((total) => `"${'x'.repeat(total)}"`),
);

const request = fc
  .tuple(fc.constantFrom(...DOCUMENTS), values, fc.constantFrom('variables', 'extensions', 'other', 'query'))
  .map(([query, value, where]) => {
    const variables = where === 'variables' ? `{"v":${value}}` : '{}';
    const member =
      where === 'variables' ? '' : `,"${where}":${where === 'extensions' ? `{"x":${value}}` : value}`;
    return `{"query":${JSON.stringify(query)},"variables":${variables}${member}}`;
  });
const body = fc.oneof(
  { weight: 6, arbitrary: request },
  { weight: 2, arbitrary: values.map((value) => `{"documentId":"stored","variables":{"v":${value}}}`) },
  { weight: 2, arbitrary: fc.array(request, { minLength: 2, maxLength: 4 }).map((all) => `[${all.join()}]`) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...DOCUMENTS), values).map(([query, value]) => `{"query":${JSON.stringify(query)},"variables":${value}}`) },
  // No JSON.
  fc.tuple(fc.constantFrom('[', '{"a":', '"', '[{},', '\\', ' ', '{"query":"'), length).map(([text, total]) =>
    text.repeat(total / text.length),
  ),
); // prettier-ignore

/** A thread that needs more memory or time than it may is ended, which is service_unavailable. */
test('whatever a body holds, it is read or refused, within the time and the memory of the threads', async () => {
  const before = process.memoryUsage.rss();
  let most = before;
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 10);
  const codes = new Set<unknown>();
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 3 }), async (all) => {
        const bodies = all.map((text) => Buffer.from(text).subarray(0, MAX_BYTES));
        const outcomes = await Promise.all(bodies.map((each) => read(each)));
        for (const outcome of outcomes) {
          const code = 'code' in outcome ? outcome.code : null;
          codes.add(code);
          expect(code).not.toBe('service_unavailable');
        }
      }),
      { numRuns: 25 },
    );
  } finally {
    clearInterval(watching);
  }
  expect(most - before).toBeLessThan(THREADS * THREAD_MAX_BYTES + SLACK_BYTES);
  // Both happen.
  expect([...codes]).toEqual(expect.arrayContaining([null, 'invalid_request']));
});
