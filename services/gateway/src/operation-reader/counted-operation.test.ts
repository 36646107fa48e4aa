import { describe, expect, test } from '@jest/globals';
import { parse, print, stripIgnoredCharacters } from 'graphql';
import { createCountedDocuments } from './counted-operation.ts';
import { createReadDocument } from './document-types.ts';
import { normalizedText } from './normalized-text.ts';

const textOf = (text: string) => normalizedText(parse(text));

test('a deep document has no text of a multiple of its length', () => {
  expect(textOf(`{${'...{'.repeat(1_000)}a${'}'.repeat(1_001)}`).length).toBeLessThan(300_000);
});

describe('the text of a document', () => {
  const FULL = `
    # a comment
    query Full($id: ID! = "secret", $n: [Int!] = [1, 2] @d(a: 5)) @live(on: true) {
      node: user(id: $id, first: 17, kind: VIP, at: 1.5, tags: ["a"], by: { name: "Ann" }, not: null) {
        ...Parts @include(if: false)
        ... on Person { name }
        ... { age(text: """block""") }
      }
    }
    fragment Parts on User { id }
  `;

  test('has no literal, and is GraphQL', () => {
    expect(textOf(FULL)).toBe(`fragment Parts on User {
  id
}
query Full($id: ID! = "", $n: [Int!] = [] @d(a: 0)) @live(on: true) {
  node: user(id: $id, first: 0, kind: VALUE, at: 0, tags: [], by: {}, not: null) {
    ...Parts @include(if: true)
    ... on Person {
      name
    }
    ... {
      age(text: "")
    }
  }
}`);
    expect(textOf(textOf(FULL))).toBe(textOf(FULL));
  });

  test.each([
    ['literals', '{ user(id: "1", n: 1) { name } }', '{ user(id: "2", n: 2.5) { name } }'],
    ['blanks and commas', '{ a b }', 'query {\n  a,\n  b\n}'],
    [
      'the order of definitions',
      'query A { ...F } fragment F on T { a }',
      'fragment F on T { a } query A { ...F }',
    ],
  ])('is the same whatever its %s', (_what, one, other) => {
    expect(textOf(one)).toBe(textOf(other));
  });

  test.each([
    ['fields', '{ a }', '{ b }'],
    ['aliases', '{ a }', '{ x: a }'],
    ['names', 'query A { a }', 'query B { a }'],
    ['types of operations', 'query { a }', 'mutation { a }'],
    ['variables', 'query ($a: Int) { a(n: $a) }', 'query ($a: Int) { a(n: 1) }'],
    ['arguments', '{ a(n: 1) }', '{ a(m: 1) }'],
  ])('tells %s apart', (_what, one, other) => {
    expect(textOf(one)).not.toBe(textOf(other));
  });

  test('means what the document means', () => {
    const text =
      'query Q($a: [T!]!) @d { x: f(a: $a) @e(b: $a) { ...F ... on U @g { h } } } fragment F on V @i { j }';
    const sorted = print(parse(text)).split('\n\n').toSorted().join('\n');
    expect(stripIgnoredCharacters(textOf(text))).toBe(stripIgnoredCharacters(sorted));
  });
});

const OFF = {
  maxDepth: 0,
  maxAliases: 0,
  maxRootFields: 0,
  maxDirectives: 0,
  maxTokens: 0,
  introspection: true,
};

describe('usage is counted by', () => {
  const readDocument = createReadDocument(OFF);
  const TWO = 'query A { a } query B { b }';

  test.each([
    ['{ a }', undefined, null],
    ['query A { a }', undefined, 'A'],
    [TWO, 'B', 'B'],
    [`query ${'A'.repeat(101)} { a }`, undefined, null],
  ])('%s, operationName %s: the name %s', (text, operationName, name) => {
    expect(readDocument(text, operationName).counted).toMatchObject({ name });
  });

  test.each([
    [TWO, undefined],
    ['query A { a } query A { b }', 'A'],
    ['{', undefined],
  ])('nothing if it isn’t known what is run: %s, operationName %s', (text, operationName) => {
    expect(readDocument(text, operationName).counted).toBeNull();
  });

  test('one document, whatever callers fill in', () => {
    const counted = createCountedDocuments(100_000);
    expect(counted(parse('{ a(id: 1) }'))).toBe(counted(parse('{ a(id: 2) }')));
    expect(counted(parse('{ a(id: 1) }'))).not.toBe(counted(parse('{ b(id: 1) }')));
  });

  test('the hash alone, if the text is too long to be kept', () => {
    const { hash, text } = createCountedDocuments(100_000)(parse(`{ ${'abcdefgh '.repeat(2_000)} }`));
    expect([hash.length, text]).toEqual([64, null]);
  });
});
