import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'graphql';
import { COST_PRESETS, loadCostSchema } from '../schema/load-cost-schema.ts';
import { priceDocument } from './priced-document.ts';
import type { PricedRequest } from './priced-document.ts';

const SDL = `
  directive @approx(tolerance: Float @cost(weight: "-1")) on FIELD
  input Page { first: Int }
  input Filter { name: String @cost(weight: "2") page: Page @cost(weight: "0") all: [Filter!] @cost(weight: "0") any: [[Filter!]] @cost(weight: "0") }
  interface Node { id: ID! friends(first: Int): [Node!] }
  type User implements Node { id: ID! friends(first: Int): [Node!] @listSize(slicingArguments: ["first"]) age: Int @cost(weight: "2") }
  type Bot implements Node { id: ID! friends(first: Int): [Node!] @listSize(slicingArguments: ["first"]) model: Int @cost(weight: "7") }
  type Edge { node: User cursor: ID }
  type Results { page: [Edge] }
  type Connection { edges: [Edge] total: Int results: Results }
  type Query {
    tenth: Int @cost(weight: "0.1")
    fifth: Int @cost(weight: "0.2")
    users(first: Int, filter: Filter): [User] @listSize(slicingArguments: ["first", "filter.page.first"], assumedSize: 50)
    open(first: Int): [User]
    one(first: Int, last: Int): [User] @listSize(slicingArguments: ["first", "last"], requireOneSlicingArgument: true)
    byIds(ids: [ID!]): [User] @listSize(slicingArguments: ["ids"])
    nodes(first: Int): [Node] @listSize(slicingArguments: ["first"])
    connection(first: Int): Connection @listSize(slicingArguments: ["first"], sizedFields: ["edges", "results { page }"])
    grid: [[User]] @listSize(assumedSize: 6)
  }
`;

const { schema } = loadCostSchema(SDL, { defaults: COST_PRESETS.ibm, listSize: 10 });

function priced(query: string) {
  return priceDocument(schema, query, parse(query, { noLocation: true }));
}

function priceOf(query: string, request: PricedRequest = {}) {
  return priced(query).price(request);
}

function pointsOf(query: string, request: PricedRequest = {}): number {
  return priceOf(query, request).points;
}

describe('sizes', () => {
  test.each([
    ['a number', '{ users(first: 3) { age } }', 1 + 3 * 2],
    ['the assumed size', '{ users { age } }', 1 + 50 * 2],
    ['the assumed size for an explicit null', '{ users(first: null) { age } }', 1 + 50 * 2],
    ['the larger of two', '{ users(first: 3, filter: { page: { first: 4 } }) { age } }', 2 + 4 * 2],
    ['the length of a list', '{ byIds(ids: ["a", "b", "c"]) { age } }', 1 + 3 * 2],
    ['one for a single value, which is read as a list', '{ byIds(ids: "1000") { age } }', 1 + 2],
    ['the innermost items altogether', '{ grid { age } }', 1 + 6 * 2],
    ['of a connection', '{ connection(first: 3) { edges { node { age } } total } }', 1 + 1 + 3 * (1 + 2)],
    [
      'of a nested list',
      '{ connection(first: 3) { results { page { node { age } } } } }',
      1 + 1 + 1 + 3 * (1 + 2),
    ],
    ['of no slicing argument', '{ open(first: 100) { age } }', 1 + 10 * 2],
    ['the larger of two, also if one is required', '{ one(first: 3, last: 5) { age } }', 1 + 5 * 2],
    ['of none of those, if one is required', '{ one { age } }', 1 + 10 * 2],
  ])('%s', (_what, query, points) => {
    expect(pointsOf(query)).toBe(points);
  });

  test.each([
    ['a number', 7, 1 + 7 * 2],
    ['digits in a string', '7', 1 + 7 * 2],
    ['null', null, 1 + 50 * 2],
    ['a text', 'seven', 1 + 50 * 2],
    ['a negative number', -1, 1 + 50 * 2],
    ['a negative fraction', '-0.5', 1 + 50 * 2],
    ['a list, which is no number', [1_000], 1 + 50 * 2],
    ['none', undefined, 1 + 50 * 2],
  ])('by a variable that is %s', (_what, n, points) => {
    expect(pointsOf('query ($n: Int) { users(first: $n) { age } }', { variables: { n } })).toBe(points);
  });

  test('a negative size is not bounded, and another argument does not hide it', () => {
    expect(priceOf('{ users(first: 1, filter: { page: { first: -1 } }) { age } }')).toMatchObject({
      points: 2 + 50 * 2,
      isBounded: false,
    });
  });

  test('the default of a variable', () => {
    expect(pointsOf('query ($n: Int = 4) { users(first: $n) { age } }')).toBe(1 + 4 * 2);
  });
});

describe('input objects', () => {
  const query = 'query ($filter: Filter) { users(first: 0, filter: $filter) { age } }';

  test.each([
    ['{ name: "x" }', { name: 'x' }, 1 + 1 + 2],
    ['{ name: null }', { name: null }, 1 + 1 + 2],
    ['{}', {}, 1 + 1],
    [
      '{ any: [[{ name: "x" }], null, [{ name: "y" }, {}]] }',
      { any: [[{ name: 'x' }], null, [{ name: 'y' }, {}]] },
      1 + 1 + 4,
    ],
    ['{ all: [{ name: "x" }, { name: "y" }] }', { all: [{ name: 'x' }, { name: 'y' }] }, 1 + 1 + 4],
  ])('%s costs the same in a variable', (inline, filter, points) => {
    expect(pointsOf(`{ users(first: 0, filter: ${inline}) { age } }`)).toBe(points);
    expect(pointsOf(query, { variables: { filter } })).toBe(points);
  });

  test('a value that is no object has no price', () => {
    expect(() => priceOf(query, { variables: { filter: 'x' } })).toThrow(
      expect.objectContaining({ reason: 'invalid' }),
    );
  });

  test('a value nested beyond reason has no price', () => {
    let filter = {};
    for (let depth = 0; depth < 5_000; depth += 1) filter = { all: [filter] };
    expect(() => priceOf(query, { variables: { filter } })).toThrow(
      expect.objectContaining({ reason: 'too_complex' }),
    );
  });

  test('a large value that is used often has no price', () => {
    const filter = { all: Array.from({ length: 10_000 }, () => ({ name: 'x' })) };
    const uses = Array.from({ length: 50 }, (_, index) => `a${String(index)}: users(filter: $filter) { id }`);
    expect(() => priceOf(`query ($filter: Filter) { ${uses.join(' ')} }`, { variables: { filter } })).toThrow(
      expect.objectContaining({ reason: 'too_complex' }),
    );
  });
});

describe('what runs', () => {
  const age = 'users(first: 5) { age }';

  test.each([
    ['merged fields once', `{ ${age} ${age} }`, 11],
    [
      'merged through fragments',
      `{ ...A ...B } fragment A on Query { ${age} } fragment B on Query { ${age} }`,
      11,
    ],
    ['merged selections', '{ users(first: 5) { age } users(first: 5) { a: age } }', 1 + 5 * 4],
    ['aliases each', `{ a: ${age} b: ${age} }`, 22],
    ['no unused fragment', `{ ${age} } fragment A on Query { a: ${age} }`, 11],
    ['a fragment named __schema', `{ ...__schema } fragment __schema on Query { ${age} }`, 11],
    ['no introspection', '{ __typename __schema { types { name } } __type(name: "User") { name } }', 1],
    [
      'the dearest of exclusive types',
      '{ nodes(first: 2) { ... on User { age } ... on Bot { model } } }',
      1 + 14,
    ],
    [
      'a field of an interface with it',
      '{ nodes(first: 2) { friends(first: 1) { id } ... on Bot { model } } }',
      1 + 16,
    ],
    ['skipped fields not', `query ($s: Boolean! = true) { ${age} tenth @skip(if: $s) }`, 11],
    [
      'either of both directives drops',
      `{ ${age} ... @include(if: true) @skip(if: true) { b: ${age} } }`,
      11,
    ],
    ['a spread that is skipped once', `{ ...A @skip(if: true) ...A } fragment A on Query { ${age} }`, 11],
    ['a directive lowers its own field', '{ users(first: 5) @approx(tolerance: 1) { age } }', 10],
    ['to 0 at least', '{ tenth @approx(tolerance: 1) users(first: 1) { age } }', 3],
    ['thousandths exactly', '{ tenth fifth }', 1],
    ['rounded up once', '{ a: tenth b: tenth fifth c: fifth d: fifth e: fifth f: fifth g: fifth }', 2],
  ])('%s', (_what, query, points) => {
    expect(pointsOf(query)).toBe(points);
  });

  test('only the named operation; without a name, the dearest', () => {
    const query = `query A { tenth } query B { ${age} }`;
    expect(pointsOf(query, { operationName: 'A' })).toBe(1);
    expect(pointsOf(query, { operationName: 'B' })).toBe(11);
    for (const operationName of [undefined, null, '', 'C'])
      expect(pointsOf(query, { operationName })).toBe(11);
  });

  test('beside a nameless operation, no name means either', () => {
    const query = `query A { ${age} } { tenth }`;
    for (const operationName of [undefined, null, '']) expect(pointsOf(query, { operationName })).toBe(11);
  });

  test('conditions are those of each request', () => {
    const document = priced(`query ($s: Boolean!) { tenth ... @include(if: $s) { ${age} } }`);
    const points = [true, false, true].map((s) => document.price({ variables: { s } }).points);
    expect(points).toEqual([12, 1, 12]);
  });
});

test('sums end', () => {
  const huge =
    '{ nodes(first: 2147483647) { friends(first: 2147483647) { friends(first: 2147483647) { id } } } }';
  expect(pointsOf(huge)).toBe(1_000_000_000_000);
  const byTypes = loadCostSchema(SDL, { defaults: { ...COST_PRESETS.ibm, type: 1 }, listSize: 10 }).schema;
  const both = priceDocument(byTypes, huge, parse(huge)).price({});
  expect(both).toMatchObject({ fieldCost: 1e12, typeCost: 1e12, points: 1e12 });
});

test.each([
  ['an unknown field', '{ nothing }'],
  ['an unknown argument', '{ users(last: 1) { age } }'],
  ['an unknown fragment', '{ ...Nothing }'],
  ['an unknown type', '{ ... on Nothing { tenth } }'],
  ['no selection', '{ users }'],
  ['a cycle', '{ users { ...A } } fragment A on User { friends { ...A } }'],
  ['a missing variable', 'query ($n: Int!) { users(first: $n) { age } }'],
  ['another root', 'mutation { tenth }'],
  ['a repeated argument', '{ users(first: 1, first: 9) { age } }'],
  ['a repeated field of an input object', '{ users(filter: { page: { first: 1, first: 9 } }) { age } }'],
  [
    'a repeated field in the default of a variable',
    'query ($f: Filter = { name: "a", name: "b" }) { users(filter: $f) { age } }',
  ],
  ['a variable that is declared twice', 'query ($n: Int = 1, $n: Int = 9) { users(first: $n) { age } }'],
  [
    'a fragment that is defined twice',
    '{ ...A } fragment A on Query { tenth } fragment A on Query { fifth }',
  ],
  ['a repeated condition', '{ tenth @include(if: false) @include(if: true) }'],
  ['a condition with two values', '{ tenth @include(if: false, if: true) }'],
])('%s has no price', (_what, query) => {
  expect(() => priceOf(query)).toThrow(expect.objectContaining({ reason: 'invalid' }));
});

test('doubling fragments are priced in steps that grow with the text', () => {
  const fragments = Array.from({ length: 26 }, (_, index) => {
    const next = `...F${String(index + 1)}`;
    return `fragment F${String(index)} on User { a: friends(first: 1) { ${next} } b: friends(first: 1) { ${next} } }`;
  });
  const query = `{ users(first: 1) { ...F0 } } ${fragments.join(' ')} fragment F26 on User { age }`;
  expect(pointsOf(query)).toBeGreaterThan(2 ** 26);
});

test('a document that takes too many steps has no price', () => {
  const names = Array.from({ length: 500 }, (_, index) => `F${String(index)}`);
  const spreads = names.map((name) => `...${name}`).join(' ');
  const fields = names.map((_, index) => `a${String(index)}: friends { ${spreads} }`).join(' ');
  const query = `{ users { ${fields} } } ${names.map((name) => `fragment ${name} on User { age }`).join(' ')}`;
  expect(() => priceOf(query)).toThrow(expect.objectContaining({ reason: 'too_complex' }));
});

test('the dearest fields, by response path', () => {
  const query =
    'query ($n: Int) { u: users(first: $n) { age friends(first: 2) { id ... on Bot { model } } } tenth }';
  expect(priced(query).dearest({ variables: { n: 10 } }, 3)).toEqual([
    { path: ['u', 'friends', 'model'], points: 140 },
    { path: ['u', 'age'], points: 20 },
    { path: ['u', 'friends'], points: 10 },
  ]);
});

describe('for any selection', () => {
  type Tree = { name: string; first: number | null; children: Tree[] };
  const tree: fc.Memo<Tree> = fc.memo((depth) =>
    fc.record({
      name: fc.constantFrom('friends', 'id', 'age'),
      first: fc.option(fc.nat({ max: 20 })),
      children: depth <= 1 ? fc.constant([]) : fc.array(tree(depth - 1), { maxLength: 3 }),
    }),
  );
  const trees = fc.array(tree(4), { minLength: 1, maxLength: 4 });
  type Write = (body: string) => string;
  const inlined: Write = (body) => body;

  /** Keys tell arguments apart, so that equal keys can be merged. */
  function written(all: readonly Tree[], wrap: Write, reversed = false): string {
    const fields = all.map(({ name, first, children }) => {
      if (name !== 'friends') return name === 'age' ? '... on User { age }' : name;
      const key = `f${String(first ?? '')}`;
      const args = first === null ? '' : `(first: ${String(first)})`;
      return `${key}: friends${args} { id ${wrap(written(children, wrap, reversed))} }`;
    });
    return (reversed ? fields.reverse() : fields).join(' ');
  }

  const query = (all: readonly Tree[], wrap: Write, reversed = false) =>
    `{ nodes(first: 3) { id ${wrap(written(all, wrap, reversed))} } }`;

  function fragmented(all: readonly Tree[]): string {
    const fragments: string[] = [];
    const operation = query(all, (body) => {
      if (body === '') return '';
      const name = `F${String(fragments.length)}`;
      fragments.push(`fragment ${name} on Node { ${body} }`);
      return `...${name}`;
    });
    return [operation, ...fragments].join(' ');
  }

  test('fragments cost what is written out, in any order, once if repeated', () => {
    fc.assert(
      fc.property(trees, (all) => {
        const expected = priceOf(query(all, inlined));
        expect(priceOf(fragmented(all))).toEqual(expected);
        expect(priceOf(query(all, inlined, true))).toEqual(expected);
        expect(priceOf(query([...all, ...all], inlined))).toEqual(expected);
      }),
    );
  });

  test('more fields and larger sizes never cost less', () => {
    fc.assert(
      fc.property(trees, trees, fc.nat(100), fc.nat(100), (all, more, a, b) => {
        const fewer = priceOf(query(all, inlined)).points;
        expect(priceOf(query([...all, ...more], inlined)).points).toBeGreaterThanOrEqual(fewer);
        const sized = `query ($n: Int) { nodes(first: $n) { id ${written(all, inlined)} } }`;
        const [small, large] = [Math.min(a, b), Math.max(a, b)];
        const points = (n: number) => pointsOf(sized, { variables: { n } });
        expect(points(small)).toBeLessThanOrEqual(points(large));
      }),
    );
  });

  test('a variable costs what its value does inline', () => {
    fc.assert(
      fc.property(trees, fc.integer({ min: -5, max: 50 }), (all, n) => {
        const body = `id ${written(all, inlined)}`;
        const inline = priceOf(`{ nodes(first: ${String(n)}) { ${body} } }`);
        expect(priceOf(`query ($n: Int) { nodes(first: $n) { ${body} } }`, { variables: { n } })).toEqual(
          inline,
        );
      }),
    );
  });
});
