import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { getIntrospectionQuery, parse, validate } from 'graphql';
import { MAX_DEPTH, MAX_OPERATION_POINTS } from './bounds.ts';
import { priceOf } from './cost.ts';
import { schema } from './schema.ts';

function price(query: string, variableValues: Record<string, unknown> = {}, operationName?: string) {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  return priceOf({ schema, document, variableValues, operationName });
}

function points(query: string, variableValues: Record<string, unknown> = {}): number {
  const priced = price(query, variableValues);
  expect(priced.refusal).toBeUndefined();
  return priced.points;
}

function refusalCode(query: string, variableValues: Record<string, unknown> = {}): unknown {
  const priced = price(query, variableValues);
  expect(priced.points).toBe(1);
  return priced.refusal?.extensions['code'];
}

const first = fc.integer({ min: 0, max: 100 });

/** Nested as deep as the limit allows, but affordable in most cases. */
const countryFields = fc.letrec<{ country: string; language: string }>((tie) => ({
  country: fc
    .array(
      fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        fc.constantFrom('name', 'capital', 'emoji', 'phone', '__typename'),
        tie('language').map((inner) => `languages { ${inner} }`),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((fields) => fields.join(' ')),
  language: fc
    .array(
      fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        fc.constantFrom('name', 'native'),
        tie('country').map((inner) => `countries(first: 2) { ${inner} }`),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((fields) => fields.join(' ')),
})).country;

describe('the price of a query', () => {
  test('is one point for each field of each object', () => {
    expect(points('{ country(code: "CH") { name capital } }')).toBe(3);
    expect(points('{ country(code: "CH") { name continent { name } } }')).toBe(4);
  });

  test('multiplies lists by their size, nested ones too', () => {
    expect(points('{ countries(first: 5) { name } }')).toBe(1 + 5);
    expect(points('{ countries { name } }')).toBe(1 + 20);
    expect(points('{ continents(first: 2) { name countries(first: 3) { name capital } } }')).toBe(
      1 + 2 * (1 + 1 + 3 * 2),
    );
    expect(points('{ country(code: "CH") { languages { name } } }')).toBe(1 + 1 + 10);
  });

  test('is what the README says', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const examples = [...readme.matchAll(/^\| `(\{.*\})` +\| (?:.*= )?(\d+) +\|$/gm)];
    expect(examples).toHaveLength(3);
    for (const [, query, said] of examples) expect(String(points(query ?? ''))).toBe(said);
  });

  test('counts aliases apart and merged fields once', () => {
    expect(points('{ a: country(code: "CH") { name } b: country(code: "IT") { name } }')).toBe(4);
    expect(points('{ country(code: "CH") { name } country(code: "CH") { name capital } }')).toBe(3);
  });

  test('reads `first` from variables and their defaults', () => {
    const query = 'query ($n: Int! = 4) { countries(first: $n) { name } }';
    expect(points(query)).toBe(5);
    expect(points(query, { n: 9 })).toBe(10);
  });

  test('leaves out what @skip and @include leave out', () => {
    const query =
      'query ($yes: Boolean!) { country(code: "CH") { name @include(if: $yes) native @skip(if: $yes) } }';
    expect(points(query, { yes: true })).toBe(2);
    expect(points(query, { yes: false })).toBe(2);
  });

  test('is one point for introspection and for what the executor will reject', () => {
    expect(points(getIntrospectionQuery())).toBe(1);
    expect(points('{ __typename }')).toBe(1);
    expect(points('query ($n: Int!) { countries(first: $n) { name } }')).toBe(1);
    expect(price('query A { __typename } query B { __typename }')).toEqual({ points: 1 });
  });

  test('is that of the operation that is named', () => {
    const query = 'query A { country(code: "CH") { name } } query B { countries(first: 50) { name } }';
    expect(price(query, {}, 'A').points).toBe(2);
    expect(price(query, {}, 'B').points).toBe(51);
  });

  test('never falls when `first` grows', () => {
    fc.assert(
      fc.property(countryFields, first, first, (fields, a, b) => {
        const [small, large] = [Math.min(a, b), Math.max(a, b)].map((n) =>
          price(`{ countries(first: ${String(n)}) { ${fields} } }`),
        );
        if (large?.refusal === undefined) expect(small?.points).toBeLessThanOrEqual(large?.points ?? 0);
      }),
    );
  });

  test('is the same for a fragment and its inlined text', () => {
    fc.assert(
      fc.property(countryFields, fc.integer({ min: 0, max: 5 }), (fields, n) => {
        const inlined = price(`{ countries(first: ${String(n)}) { ${fields} } }`);
        const named = `{ countries(first: ${String(n)}) { ...F } } fragment F on Country { ${fields} }`;
        const twice = `{ countries(first: ${String(n)}) { ...F ... on Country { ...F } } } fragment F on Country { ${fields} }`;
        expect(price(named)).toEqual(inlined);
        expect(price(twice)).toEqual(inlined);
      }),
    );
  });
});

describe('a query is refused for one point', () => {
  test('when it costs more than the limit', () => {
    const nested = (n: number) =>
      `{ countries(first: 100) { languages { countries(first: ${String(n)}) { name } } } }`;
    expect(points(nested(7))).toBe(1 + 100 * (1 + 10 * (1 + 7)));
    expect(points(nested(7))).toBeLessThanOrEqual(MAX_OPERATION_POINTS);
    expect(refusalCode(nested(100))).toBe('QUERY_TOO_EXPENSIVE');
  });

  test('when it is too deep', () => {
    const deep = (pairs: number): string =>
      pairs === 0 ? 'name' : `continent { countries(first: 1) { ${deep(pairs - 1)} } }`;
    const query = (pairs: number) => `{ country(code: "CH") { ${deep(pairs)} } }`;
    expect(points(query(MAX_DEPTH / 2 - 1))).toBe(MAX_DEPTH);
    expect(refusalCode(query(MAX_DEPTH / 2))).toBe('QUERY_TOO_DEEP');
  });

  test('when an argument is out of bounds, be it a literal or a variable', () => {
    expect(refusalCode('{ countries(first: 101) { name } }')).toBe('ARGUMENT_OUT_OF_BOUNDS');
    expect(refusalCode('{ countries(offset: -1) { name } }')).toBe('ARGUMENT_OUT_OF_BOUNDS');
    const query = 'query ($n: Int!) { country(code: "CH") { continent { countries(first: $n) { name } } } }';
    expect(refusalCode(query, { n: -1 })).toBe('ARGUMENT_OUT_OF_BOUNDS');
    expect(refusalCode('subscription { countryOfTheMoment(intervalMs: 1) { name } }')).toBe(
      'ARGUMENT_OUT_OF_BOUNDS',
    );
  });

  test('without much work, however fragments multiply', () => {
    const levels = 8;
    const aliases = Array.from({ length: 9 }, (_, i) => i);
    const fragments = Array.from({ length: levels }, (_, level) => {
      const inner = level === levels - 1 ? 'name' : `...F${String(level + 1)}`;
      const fields = aliases.map((i) =>
        level % 2 === 0
          ? `a${String(level)}${String(i)}: continent { ${inner} }`
          : `b${String(level)}${String(i)}: countries(first: 1) { ${inner} }`,
      );
      return `fragment F${String(level)} on ${level % 2 === 0 ? 'Country' : 'Continent'} { ${fields.join(' ')} }`;
    });
    const document = parse(`{ country(code: "CH") { ...F0 } } ${fragments.join(' ')}`);
    const began = process.threadCpuUsage();
    expect(priceOf({ schema, document }).refusal?.extensions['code']).toBe('QUERY_TOO_EXPENSIVE');
    // Going through all 43 million fields would take minutes of CPU time.
    expect(process.threadCpuUsage(began).user).toBeLessThan(10_000_000);
  });
});
