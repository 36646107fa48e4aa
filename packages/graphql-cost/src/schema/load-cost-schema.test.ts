import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'graphql';
import { priceDocument } from '../document/priced-document.ts';
import { parseCostsFile } from './costs-file.ts';
import { COST_PRESETS, CostSchemaError, loadCostSchema } from './load-cost-schema.ts';

const OPTIONS = { defaults: COST_PRESETS.ibm, listSize: 10 };

function faultsOf(sdl: string): readonly string[] {
  try {
    loadCostSchema(sdl, OPTIONS);
    return [];
  } catch (error) {
    if (error instanceof CostSchemaError) return error.faults;
    throw error;
  }
}

function pointsOf(sdl: string, query: string, costs = '{}'): number {
  const { schema } = loadCostSchema(sdl, { ...OPTIONS, costs: parseCostsFile(costs) });
  return priceDocument(schema, query, parse(query)).price({}).points;
}

describe('refused with its coordinate', () => {
  test.each([
    ['a weight that is no number', 'type Query { a: Int @cost(weight: "NaN") }', 'Query.a: the weight NaN'],
    ['an infinite weight', 'type Query { a: Int @cost(weight: "Infinity") }', 'Query.a: the weight Infinity'],
    ['four decimal places', 'type Query { a: Int @cost(weight: "0.0001") }', 'Query.a: the weight 0.0001'],
    ['a directive without its weight', 'type Query { a: Int @cost }', 'Query.a: the weight undefined'],
    ['a negative field', 'type Query { a: Int @cost(weight: "-1") }', 'Query.a: the weight -1 is negative'],
    [
      'a negative type',
      'type Query { a: T } type T @cost(weight: "-1") { b: Int }',
      'T: the weight -1 is negative',
    ],
    [
      'a slicing argument that nothing has',
      'type Query { a(first: Int): [Int] @listSize(slicingArguments: ["last"]) }',
      'Query.a: slicingArguments names no argument: last',
    ],
    [
      'a path through no input object',
      'type Query { a(first: Int): [Int] @listSize(slicingArguments: ["first.count"]) }',
      'Query.a: slicingArguments names no argument: first.count',
    ],
    [
      'sized fields that are no lists',
      'type Query { a: T @listSize(assumedSize: 3, sizedFields: ["b"]) } type T { b: Int }',
      'Query.a: sizedFields names no list: b',
    ],
    ['the size of no list', 'type Query { a: Int @listSize(assumedSize: 3) }', 'Query.a: a field that is no'],
    ['a negative size', 'type Query { a: [Int] @listSize(assumedSize: -3) }', 'Query.a: assumedSize'],
    ['an unknown type', 'type Query { a: Nothing }', 'Query.a: there is no output type Nothing'],
    ['an unknown input', 'type Query { a(b: Nothing): Int }', 'Query.a(b:): there is no input type Nothing'],
  ])('%s', (_what, sdl, fault) => {
    expect(faultsOf(sdl)).toEqual([expect.stringContaining(fault)]);
  });

  test('all faults at once', () => {
    expect(
      faultsOf('type Query { a: Int @cost(weight: "x") b(c: Int @cost(weight: "y")): Int }'),
    ).toHaveLength(2);
  });
});

test('a negative weight may stand at arguments, input fields and directive arguments', () => {
  expect(
    faultsOf(`
      directive @approx(tolerance: Float @cost(weight: "-1")) on FIELD
      input Filter { fast: Boolean @cost(weight: "-2") }
      type Query { a(filter: Filter @cost(weight: "-3")): Int }
    `),
  ).toEqual([]);
});

test.each([
  [
    'by import',
    'extend schema @link(url: "https://specs.apollo.dev/cost/v0.1", import: [{ name: "@cost", as: "@price" }])',
    'price',
  ],
  ['by prefix', 'extend schema @link(url: "https://specs.apollo.dev/cost/v0.1", as: "c")', 'c__cost'],
  [
    'by federation',
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@cost"])',
    'cost',
  ],
])('directives are renamed %s', (_how, link, name) => {
  const sdl = `${link} type Query { a: Int @${name}(weight: 7) }`;
  expect(pointsOf(sdl, '{ a }')).toBe(7);
});

test('the file of weights wins over directives, and names that the schema lacks are told', () => {
  const sdl = 'type Query { a: Int @cost(weight: "2") b(c: Int): [T] } type T { d: Int }';
  const costs = JSON.stringify({
    weights: { 'Query.a': 5, T: '0.5', 'Query.b(c:)': 1, 'Query.e': 1 },
    listSizes: { 'Query.b': { slicingArguments: ['c'] }, 'Query.f': { assumedSize: 1 } },
  });
  expect(pointsOf(sdl, '{ a }', costs)).toBe(5);
  expect(pointsOf(sdl, '{ b(c: 4) { d } }', costs)).toBe(1 + 1 + 2);
  const { unknownNames } = loadCostSchema(sdl, { ...OPTIONS, costs: parseCostsFile(costs) });
  expect(unknownNames).toEqual(['Query.e', 'Query.f']);
});

test('a file of weights with an unknown member is refused', () => {
  expect(() => parseCostsFile('{ "weight": {} }')).toThrow(/weight/);
});

test('the schema and the file of weights that the documents show can be used', () => {
  const blockOf = (page: string, language: string) =>
    new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(
      readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8'),
    )?.[1] ?? '';
  const costs = blockOf('design/price.md', 'json');
  expect(pointsOf(blockOf('upstreams.md', 'graphql'), '{ countries(first: 3) { name } }', costs)).toBe(4);
});

test('costs of interfaces are ignored with a warning', () => {
  const sdl = `
    interface Node { id: ID @cost(weight: "9") }
    type User implements Node { id: ID @cost(weight: "2") }
    type Query { node: Node }
  `;
  expect(pointsOf(sdl, '{ node { id } }')).toBe(1 + 2);
  expect(loadCostSchema(sdl, OPTIONS).warnings).toEqual([
    expect.stringContaining('Node.id: costs of interfaces'),
  ]);
});

test('lists whose size changes no price are listed', () => {
  const sdl = `
    type Query { flat: [Tag] dear: [User] names: [String] }
    type Tag { name: String }
    type User { tags: [Tag] friends: [User] }
  `;
  // A user's lists weigh 1 each by default.
  expect(loadCostSchema(sdl, OPTIONS).flatLists).toEqual(['Query.flat', 'User.tags']);
});

test('extensions of a type count', () => {
  const sdl = 'type Query { a: Int } extend type Query { b: Int @cost(weight: "3") }';
  expect(pointsOf(sdl, '{ a b }')).toBe(3);
});
