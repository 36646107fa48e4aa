import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { getIntrospectionQuery } from 'graphql';
import { Problem } from '@tollgate/http/problem';
import type { Guards } from './guards.ts';
import { createOperationReader } from './operation-reader.ts';

const OFF: Guards = {
  maxDepth: 0,
  maxAliases: 0,
  maxRootFields: 0,
  maxDirectives: 0,
  maxTokens: 0,
  introspection: true,
};

/** As in config.ts. */
const DEFAULTS: Guards = {
  maxDepth: 50,
  maxAliases: 500,
  maxRootFields: 200,
  maxDirectives: 500,
  maxTokens: 5_000,
  introspection: true,
};

function readerWith(guards: Guards) {
  return createOperationReader({ maxDocumentBytes: 65_536, guards, batchLimit: 10 });
}

function refusalOf(query: string, guards: Partial<Guards>): Problem | null {
  try {
    readerWith({ ...OFF, ...guards }).readOne({ query });
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

const REPEATED = '{ ...F ...G } fragment F on Q { x: a @d { ...G } } fragment G on Q { y: b z: c @d @e }';

describe('a document within its limits is read, and refused beyond them', () => {
  test.each<[string, string, keyof Guards, number, string]>([
    ['depth', '{ a { b { c } } }', 'maxDepth', 3, 'document_too_deep'],
    [
      'depth through fragments',
      '{ a { ...F } } fragment F on T { b { c } }',
      'maxDepth',
      3,
      'document_too_deep',
    ],
    [
      'depth without inline fragments',
      '{ ... on Q { a { ... on T { b } } } }',
      'maxDepth',
      2,
      'document_too_deep',
    ],
    ['aliases', '{ x: a y: b { z: __typename } }', 'maxAliases', 3, 'too_many_aliases'],
    ['aliases of each use of a fragment', REPEATED, 'maxAliases', 5, 'too_many_aliases'],
    ['root fields', '{ a b { c } }', 'maxRootFields', 2, 'too_many_root_fields'],
    ['root fields of fragments', REPEATED, 'maxRootFields', 3, 'too_many_root_fields'],
    [
      'directives',
      'query ($v: I @d) @d { a @d @unknown ... @d { b } }',
      'maxDirectives',
      5,
      'too_many_directives',
    ],
    ['directives of each use of a fragment', REPEATED, 'maxDirectives', 5, 'too_many_directives'],
    ['tokens', '{ a b c }', 'maxTokens', 5, 'too_many_tokens'],
    ['the largest operation', 'query A { a } query B { a b c }', 'maxRootFields', 3, 'too_many_root_fields'],
  ])('%s', (_what, query, guard, figure, code) => {
    expect(refusalOf(query, { [guard]: figure })).toBeNull();
    expect(refusalOf(query, { [guard]: figure - 1 })).toMatchObject({
      code,
      extensions: { limit: figure - 1, found: figure },
    });
  });
});

test('a refusal says where the limit is passed', () => {
  expect(refusalOf('{\n  a\n  b\n  c\n}', { maxRootFields: 2 })?.extensions).toEqual({
    limit: 2,
    found: 3,
    locations: [{ line: 4, column: 3 }],
  });
});

describe('introspection', () => {
  test.each([
    '{ __schema { types { name } } }',
    '{ x: __type(name: "T") { name } }',
    '{ ...F } fragment F on Query { ... { __schema { types { name } } } }',
    '{ ...F } fragment F on Query { __schema { types { name } } } fragment F on Query { a }',
  ])('%s is refused', (query) => {
    expect(refusalOf(query, { introspection: false })).toMatchObject({ code: 'introspection_disabled' });
  });

  test.each([
    '{ a { __typename } }',
    '{ a(text: "__schema") }',
    '{ ...__schema } fragment __schema on Query { a }',
    '{ __schema: a }',
    '{ a } fragment Unused on Query { __schema { types { name } } }',
  ])('%s passes', (query) => {
    expect(refusalOf(query, { introspection: false })).toBeNull();
  });

  test('the usual query with all its options passes the default guards', () => {
    const query = getIntrospectionQuery({
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    });
    expect(refusalOf(query, DEFAULTS)).toBeNull();
  });
});

describe('a document that cannot be parsed', () => {
  test('is refused with its place, and without its literals', () => {
    const refusal = refusalOf('{\n  a "secret" }', DEFAULTS);
    expect(refusal).toMatchObject({
      code: 'document_invalid',
      extensions: { locations: [{ line: 2, column: 5 }] },
    });
    expect(JSON.stringify(refusal)).not.toContain('secret');
  });

  test('is refused if it is empty beside the name of a stored document, unless all guards are off', () => {
    const request = { query: '', documentId: 'abc' };
    expect(() => readerWith(DEFAULTS).readOne(request)).toThrow(
      expect.objectContaining({ code: 'document_unknown' }),
    );
    expect(readerWith(OFF).readOne(request).type).toBe('unknown');
  });

  test('is forwarded if all guards are off', () => {
    expect(readerWith(OFF).readOne({ query: '{ a "b" }' }).type).toBe('unknown');
  });

  test('is refused as too deep if the stack overflows', () => {
    const query = `{ a(b: ${'['.repeat(20_000)}) }`;
    expect(refusalOf(query, { maxDepth: 50 })).toMatchObject({ code: 'document_too_deep' });
  });
});

test('every operation of a batch is guarded', () => {
  const { read } = readerWith({ ...OFF, maxDepth: 1 });
  const refused = (index: number) =>
    expect.objectContaining({
      code: 'document_too_deep',
      extensions: expect.objectContaining({ limit: 1, index }) as unknown,
    });
  expect(() => read([{ query: '{ a }' }, { query: '{ a { b } }' }])).toThrow(refused(1));
  // A list of variables is several operations.
  expect(() => read([{ query: '{ a }', variables: [{}, {}] }, { query: '{ a { b } }' }])).toThrow(refused(2));
});

describe('hostile fragments are counted in steps that grow with the text', () => {
  test('doubling ones', () => {
    const fragments = Array.from({ length: 200 }, (_, index) => {
      const next = `...F${String(index + 1)}`;
      return `fragment F${String(index)} on T { a { ${next} } x: b { ${next} } }`;
    });
    const query = `{ ...F0 } ${fragments.join(' ')} fragment F200 on T { c }`;
    expect(refusalOf(query, { maxAliases: 500 })).toMatchObject({
      code: 'too_many_aliases',
      extensions: { limit: 500, found: 1_000_000_000 },
    });
  });

  test.each([
    ['a cycle', '{ ...F } fragment F on T { a { ...F } }'],
    ['a mutual cycle', '{ ...F } fragment F on T { a { ...G } } fragment G on T { b { ...F } }'],
    ['a missing one', '{ ...F }'],
  ])('%s', (_what, query) => {
    expect(refusalOf(query, DEFAULTS)).toBeNull();
  });
});

test('whatever a document holds, it is read or refused with a code of its own', () => {
  const word = fc.constantFrom(
    '{', '}', '(', ')', '[', ']', ':', '!', '$', '@', '...', '...F', '&', '|', '=',
    'query', 'mutation', 'subscription', 'fragment', 'F', 'on', 'a', 'b:', '__schema', 'true', 'null',
    '1', '-1e999', '99999999999999999999', '"text"', '"\\uD800"', '"""block"""', '"open', '#comment\n',
    '\u202e', '\ufeff', '\u0000', '😀',
  ); // prettier-ignore
  const nested = fc
    .tuple(fc.constantFrom('{a', '[', '(a:[', '...{', '"""'), fc.nat({ max: 5_000 }))
    .map(([text, count]) => text.repeat(count));
  const fragments = fc
    .nat({ max: 400 })
    .map((count) =>
      Array.from(
        { length: count },
        (_, index) =>
          `fragment F${String(index)} on T { ...F${String((index * 7 + 1) % count)} a: b @c { ...F${String((index + 1) % count)} } }`,
      ).join(' '),
    );
  const document = fc.oneof(
    fc.array(word, { maxLength: 200 }).map((words) => words.join(' ')),
    nested,
    fragments.map((text) => `{ ...F0 ...F1 } ${text}`),
    fc.tuple(word, fc.nat({ max: 20_000 })).map(([text, count]) => text.repeat(count)),
    fc.string({ unit: 'binary', maxLength: 500 }),
  );
  const codes = new Set([
    'document_invalid', 'document_too_large', 'document_too_deep', 'too_many_aliases', 'too_many_root_fields', 'too_many_tokens',
    'too_many_directives', 'introspection_disabled',
  ]); // prettier-ignore
  const reader = readerWith({ ...DEFAULTS, introspection: false });
  const read = (query: string) => {
    try {
      return reader.readOne({ query });
    } catch (error) {
      return error;
    }
  };
  fc.assert(
    fc.property(document, (query) => {
      const outcome = read(query);
      if (outcome instanceof Problem) expect(codes).toContain(outcome.code);
      else expect(outcome).toHaveProperty('type');
      // What is remembered says the same.
      expect(read(query)).toEqual(outcome);
    }),
    { numRuns: 300 },
  );
});
