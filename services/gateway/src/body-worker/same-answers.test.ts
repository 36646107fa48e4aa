import { afterAll, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import fc from 'fast-check';
import { createReading } from '../../test/suite/reading.ts';
import { openLongBodies } from './open-long-bodies.ts';

const TEXTS = {
  apiVersion: 'v2' as const,
  sdl: `
    directive @listSize(slicingArguments: [String!]) on FIELD_DEFINITION
    input Page { first: Int tags: [String] deeper: [Page] blob: JSON }
    scalar JSON
    type Query {
      users(first: Int): [User] @listSize(slicingArguments: ["first"])
      page(input: Page): [User] @listSize(slicingArguments: ["input.first", "input.tags"])
      keep(blob: JSON): Int
    }
    type Mutation { rename: User }
    type User { name: String friends(first: Int = 3): [User] @listSize(slicingArguments: ["first"]) }
  `,
  costs: '{"weights":{"Page.deeper":"0.5","Page.first":2}}',
  preset: 'ibm' as const,
  listSize: 10,
};

const MAX_BYTES = 400_000;
const STORED = 'query Stored($n: Int) { users(first: $n) { name } }';

const longBodies = openLongBodies({ maxBodyBytes: MAX_BYTES });
afterAll(() => longBodies.close());

const read = (longBodyMinBytes: number) =>
  createReading({
    texts: TEXTS,
    stored: new Map([['stored', STORED]]),
    guards: {
      maxDepth: 6,
      maxAliases: 5,
      maxRootFields: 5,
      maxDirectives: 5,
      maxTokens: 200,
      introspection: true,
    },
    maxDocumentBytes: 2_000,
    maxBytes: MAX_BYTES,
    openLongBody: longBodies.open,
    longBodyMinBytes,
  });

const inLoop = read(Infinity);
const inWorker = read(0);

async function expectSame(body: Buffer): Promise<void> {
  expect(await inWorker(body)).toEqual(await inLoop(body));
}

const QUERIES = [
  '{ users(first: 2) { name } }',
  'query ($n: Int) { users(first: $n) { name friends { name } } }',
  'query ($p: Page, $b: Boolean = true) { page(input: $p) @include(if: $b) { name } }',
  'query A($blob: JSON) { keep(blob: $blob) } query B($n: Int) { users(first: $n) { name } }',
  'query ($n: Int!) { users(first: $n) { name } }',
  'mutation { rename { name } }',
  'subscription { a }',
  '{ nothing }',
  '{ a { a { a { a { a { a { a } } } } } } }',
  '{ "',
  '',
  `{ users(first: 1) { name } } # ${'x'.repeat(2_000)}`,
];

const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    3,
    -1,
    2.5,
    1e21,
    '7',
    '1e3',
    'many',
    '',
    -0,
    'stored',
    hash('sha256', STORED),
  ),
  fc.string({ maxLength: 5 }),
);
const value = fc.oneof(
  { maxDepth: 3 },
  scalar,
  fc.array(scalar, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom('first', 'tags', 'deeper', 'blob', 'n', 'p'), scalar, { maxKeys: 4 }),
  fc.constant({ deeper: [{ first: 1 }, null, { deeper: [{}] }] }),
  fc.constant({ deeper: Array.from({ length: 60_000 }, () => ({})) }),
);
const variables = fc.oneof(
  fc.dictionary(fc.constantFrom('n', 'p', 'b', 'blob', 'other'), value, { maxKeys: 3 }),
  fc.array(fc.dictionary(fc.constantFrom('n', 'p'), scalar, { maxKeys: 2 }), { maxLength: 5 }),
  scalar,
);
const extensions = fc.oneof(
  scalar,
  fc.dictionary(fc.constantFrom('persistedQuery', 'documentId', 'PersistedQuery', 'trace'), value, {
    maxKeys: 2,
  }),
  fc.constantFrom(...QUERIES, STORED).map((text) => ({
    persistedQuery: { version: 1, sha256Hash: hash('sha256', text), more: [1, 2] },
  })),
);
const member = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...QUERIES).map((query): [string, unknown] => ['query', query]) },
  { weight: 3, arbitrary: variables.map((each): [string, unknown] => ['variables', each]) },
  extensions.map((each): [string, unknown] => ['extensions', each]),
  fc.constantFrom('A', 'B', '', null, 1, {}).map((name): [string, unknown] => ['operationName', name]),
  fc.tuple(fc.constantFrom('id', 'documentId', 'Query', 'other', 'query'), value),
);
// Members may be repeated.
const request = fc
  .array(member, { maxLength: 4 })
  .map(
    (members) =>
      `{${members.map(([name, each]) => `${JSON.stringify(name)}:${JSON.stringify(each)}`).join()}}`,
  );
const body = fc.oneof(
  { weight: 4, arbitrary: request },
  { weight: 3, arbitrary: fc.array(request, { maxLength: 5 }).map((all) => `[${all.join()}]`) },
  value.map((each) => JSON.stringify(each)),
  fc.constantFrom('', '{', '[{}', 'null', '[[{"query":"{ a }"}]]', '{"\\u0071uery":"{ a }"}'),
);

test('a body is answered, forwarded and priced in the worker as in the event loop', async () => {
  await fc.assert(
    fc.asyncProperty(body, (json) => expectSame(Buffer.from(json))),
    { numRuns: 150 },
  );
});

test.each([
  ['no UTF-8', Buffer.from('7b226122 3a22 ff 22 7d'.replaceAll(' ', ''), 'hex')],
  ['deep nesting', Buffer.from(`{"query":"{ a }","variables":${'['.repeat(20_000)}`)],
  ['more than 64 levels', Buffer.from(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`)],
  [
    'many names',
    Buffer.from(`{${Array.from({ length: 20_000 }, (_, index) => `"n${String(index)}":0`).join()}}`),
  ],
  ['a text that makes it too large', Buffer.from(`{"id":"stored","x":"${'x'.repeat(MAX_BYTES - 30)}"}`)],
  [
    'numbers with more digits than a number keeps',
    Buffer.from('{"id":"stored","variables":{"n":4,"o":12345678901234567890.0}}'),
  ],
])('so is one with %s', async (_what, each) => {
  await expectSame(each);
});
