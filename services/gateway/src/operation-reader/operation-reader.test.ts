import { describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { createOperationReader } from './operation-reader.ts';
import { STORED_DOCUMENT_NAMES } from './protocol-names.ts';

const NO_GUARDS = {
  maxDepth: 0,
  maxAliases: 0,
  maxRootFields: 0,
  maxDirectives: 0,
  maxTokens: 0,
  introspection: true,
};

const reader = createOperationReader({ maxDocumentBytes: 65_536, guards: NO_GUARDS, batchLimit: 3 });

const SEVERAL = 'query Read { a } mutation Write { b } subscription Follow($of: In = {x: "}"}) @d { c }';

test.each([
  ['{ a }', undefined, 'query'],
  ['# subscription { a }\n query { a }', undefined, 'query'],
  ['mutation { a }', null, 'mutation'],
  ['fragment F on T { a } subscription { ...F }', undefined, 'subscription'],
  ['query { a(text: """subscription { b }""") }', undefined, 'query'],
  [SEVERAL, 'Read', 'query'],
  [SEVERAL, 'Write', 'mutation'],
  [SEVERAL, 'Follow', 'subscription'],
  ['subscription One { a }', 'Another', 'subscription'],
  ['query One { a } query Two { b }', undefined, 'query'],
])('%s, operationName %s: %s', (query, operationName, type) => {
  expect(reader.readOne({ query, operationName }).type).toBe(type);
});

test.each([
  ['several types and no name', { query: SEVERAL }],
  ['several types and a name of none of them', { query: SEVERAL, operationName: 'Other' }],
  ['one name for two types', { query: 'query A { a } subscription A { b }', operationName: 'A' }],
  ['a name that is no text', { query: SEVERAL, operationName: ['Read'] }],
  ['no document', { extensions: { persistedQuery: { sha256Hash: 'abc' } } }],
  ['a document that is no text', { query: { kind: 'Document' } }],
  ['no GraphQL', { query: 'subscription {' }],
  ['fragments alone', { query: 'fragment F on T { a }' }],
  ['more tokens than are read', { query: `{ ${'a '.repeat(20_000)} }` }],
  ['deeper than can be read', { query: '{a'.repeat(9_000) }],
])('unknown: %s', (_, payload) => {
  expect(reader.readOne(payload).type).toBe('unknown');
});

describe('a document beside the name of a stored one', () => {
  const query = 'subscription { a }';
  const sha256Hash = hash('sha256', query);

  test.each([
    [{ query, documentId: null, extensions: null }, 'subscription'],
    [{ query, extensions: { tracing: true } }, 'subscription'],
    // Automatic persisted queries: the first request registers the document.
    [{ query, extensions: { persistedQuery: { version: 1, sha256Hash } } }, 'subscription'],
    [
      { query, extensions: { persistedQuery: { version: 1, sha256Hash: hash('sha256', '{ a }') } } },
      'unknown',
    ],
    [{ query, extensions: { PersistedQuery: { sha256Hash: 'abc' } } }, 'unknown'],
  ])('%j: %s', (request, type) => {
    expect(reader.readOne(request).type).toBe(type);
  });

  test.each(['{}', [], 7])('extensions that are no object are refused: %j', (extensions) => {
    expect(() => reader.readOne({ query, extensions })).toThrow('`extensions` must be an object.');
  });

  test.each(STORED_DOCUMENT_NAMES)('%s beside it is refused, also in extensions', (name) => {
    for (const named of [{ [name]: 'abc' }, { extensions: { [name]: 'abc' } }]) {
      expect(() => reader.readOne({ query, ...named })).toThrow('A request must not have both');
    }
  });
});

test.each([
  [['{ a }', 'query { a }'], 'query'],
  [['{ a }', 'mutation { a }'], 'mutation'],
  [['{ a }', '?', 'mutation { a }'], 'unknown'],
])('a batch of %j is a %s', (documents, type) => {
  expect(reader.read(documents.map((query) => ({ query }))).operations).toMatchObject({
    type,
    count: documents.length,
    isBatch: true,
  });
});

test('lists can be refused', () => {
  const { read } = createOperationReader({ maxDocumentBytes: 10, guards: NO_GUARDS, batchLimit: 0 });
  for (const list of [[], [{ query: '{ a }' }]]) {
    expect(() => read(list)).toThrow(expect.objectContaining({ code: 'batch_too_large' }));
  }
});

describe('a list of variables', () => {
  const query = 'query ($n: Int) { a(n: $n) }';

  test('is an operation for each of them', () => {
    const { operations, requests } = reader.read({ query, variables: [{ n: 1 }, { n: 2 }] });
    expect(operations).toMatchObject({ type: 'query', count: 2, isBatch: true });
    expect(requests.map(({ text, variables }) => [text, variables])).toEqual([
      [query, { n: 1 }],
      [query, { n: 2 }],
    ]);
  });

  test('counts against the limit of batches, together with the other operations of one', () => {
    const two = { query, variables: [{}, {}] };
    expect(reader.read([two, { query }]).operations.count).toBe(3);
    const empty = { query, variables: [] };
    for (const request of [
      [two, two],
      [{ query }, empty, empty, empty],
      { query, variables: [{}, {}, {}, {}] },
    ])
      expect(() => reader.read(request)).toThrow('A batch may have 3 operations.');
  });

  test('that is empty is none, as PHP writes it', () => {
    expect(reader.read({ query, variables: [] })).toMatchObject({
      operations: { count: 1, isBatch: false },
      requests: [{ variables: {} }],
    });
    expect(reader.read([{ query }, { query, variables: [] }])).toMatchObject({
      operations: { count: 2 },
      requests: [{}, { variables: {} }],
    });
  });

  test('is of no subscription', () => {
    const request = { query: 'subscription { a }', variables: [{}] };
    expect(() => reader.read(request)).toThrow('A batch must');
  });
});

test('a batch that is read in turns is the same, and others have their turns in between', async () => {
  const documents = ['{ a }', 'mutation { a }', '{ b }'].map((query) => ({ query }));
  let turns = 0;
  let counting = setImmediate(again);
  function again(): void {
    turns += 1;
    counting = setImmediate(again);
  }
  try {
    await expect(reader.readInTurns(documents)).resolves.toEqual(reader.read(documents));
    await expect(reader.readInTurns({ query: '{ a }' })).resolves.toEqual(reader.read({ query: '{ a }' }));
    await expect(reader.readInTurns([{ query: 'subscription { a }' }])).rejects.toThrow('A batch must');
  } finally {
    clearImmediate(counting);
  }
  expect(turns).toBeGreaterThan(0);
});
