import { expect, test } from '@jest/globals';
import { operationType } from './operation-type.ts';

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
  expect(operationType({ query, operationName })).toBe(type);
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
  expect(operationType(payload)).toBe('unknown');
});
