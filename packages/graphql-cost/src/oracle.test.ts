import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'graphql';
import { priceDocument } from './document/priced-document.ts';
import type { Price, PricedRequest } from './document/priced-document.ts';
import { COST_PRESETS, loadCostSchema } from './schema/load-cost-schema.ts';
import type { CostDefaults } from './schema/load-cost-schema.ts';
import { MAX_COUNT } from './thousandths.ts';

type Case = {
  name?: string;
  query: string;
  variables: Record<string, unknown>;
  op?: string;
  expected: { fieldCost: number; typeCost: number };
};

/** Figures of the crate graphql-static-analysis 0.2.2 (docs/design/price.md). */
const oracle = JSON.parse(readFileSync(new URL('../test/cases.json', import.meta.url), 'utf8')) as {
  schemas: Record<'named' | 'fuzz' | 'sample', string>;
} & Record<'named' | 'fuzz', { defaultListSize: number; cases: Case[] }>;

/** What the specification's text takes for granted: object types weigh 1. */
const OF_THE_SPECIFICATION: CostDefaults = { field: 1, input: 1, type: 1, rootType: 1 };

function pricing(sdl: string, defaults: CostDefaults, listSize: number) {
  const { schema } = loadCostSchema(sdl, { defaults, listSize });
  return (query: string, request: PricedRequest = {}): Price =>
    priceDocument(schema, query, parse(query, { noLocation: true })).price(request);
}

describe.each(['named', 'fuzz'] as const)('the %s figures of the oracle', (set) => {
  const { defaultListSize, cases } = oracle[set];
  const price = pricing(oracle.schemas[set], OF_THE_SPECIFICATION, defaultListSize);
  const titled = cases.map((each, index) => ({ title: each.name ?? `case ${String(index + 1)}`, ...each }));

  test.each(titled)('$title', ({ query, variables, op, expected }) => {
    const { fieldCost, typeCost } = price(query, { variables, operationName: op });
    expect({ fieldCost, typeCost }).toEqual({
      fieldCost: Math.min(expected.fieldCost, MAX_COUNT),
      typeCost: Math.min(expected.typeCost, MAX_COUNT),
    });
  });
});

describe('the presets', () => {
  const ibm = pricing(oracle.schemas.named, COST_PRESETS.ibm, 10);
  const apollo = pricing(oracle.schemas.named, COST_PRESETS.apollo, 10);

  test.each([
    ['{ users(max: 5) { age } }', 11, 15],
    ['{ topProducts }', 5, 5],
    ['{ topProducts(filter: { name: "x" }) }', 20, 20],
    ['{ topProducts(filter: { approx: YES }) }', 8, 8],
    ['{ mostPopularProduct { name } }', 5, 6],
    ['{ mostPopularProduct(approx: YES) { name } }', 2, 3],
    ['{ films(first: 10) { edges { node { title } } pageInfo { hasNextPage } } }', 13, 22],
    ['{ users(max: 5) { friends(first: 3) { age } } }', 36, 50],
    ['{ a: users(max: 5) { age } b: users(max: 5) { age } }', 22, 30],
    ['{ users(max: 5) { age } users(max: 5) { age } }', 11, 15],
    ['{ search(first: 4) { ... on User { age } ... on Product { reviews { text } } } }', 9, 92],
    ['{ users(max: 5) { address { zip } } }', 31, 30],
    ['{ users(max: null) { age } }', 21, 30],
    ['{ users(max: -5) { age } }', 21, 30],
    ['{ users(max: 0) { age } }', 1, 1],
  ])('%s', (query, pointsIbm, pointsApollo) => {
    expect([ibm(query).points, apollo(query).points]).toEqual([pointsIbm, pointsApollo]);
  });

  test.each(['{ users(max: null) { age } }', '{ users(max: -5) { age } }'])('%s is not bounded', (query) => {
    expect(ibm(query).isBounded).toBe(false);
  });

  test('a list whose items cost nothing is bounded', () => {
    expect(ibm('{ users { name } }')).toMatchObject({ points: 1, isBounded: true });
  });
});
