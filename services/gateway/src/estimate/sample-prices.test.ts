import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'graphql';
import type { CostSchema } from '@tollgate/graphql-cost/cost-schema';
import { COST_PRESETS, loadCostSchema } from '@tollgate/graphql-cost/load-cost-schema';
import { priceDocument } from '@tollgate/graphql-cost/priced-document';
import { startSampleUpstream } from '@tollgate/testbed/sample-upstream';
import type { SampleUpstream } from '@tollgate/testbed/sample-upstream';

let upstream: SampleUpstream;
let schema: CostSchema;

beforeAll(async () => {
  upstream = await startSampleUpstream();
  const sdl = await (await fetch(new URL('/schema.graphql', upstream.url))).text();
  const loaded = loadCostSchema(sdl, { defaults: COST_PRESETS.ibm, listSize: 10 });
  expect([loaded.warnings, loaded.flatLists]).toEqual([[], []]);
  schema = loaded.schema;
});

afterAll(() => upstream.stop());

type Request = { query: string; variables: Record<string, unknown> };

function estimateOf({ query, variables }: Request): number {
  return priceDocument(schema, query, parse(query)).price({ variables }).points;
}

/** Null if the upstream refuses the query. */
async function statedPoints(request: Request): Promise<number | null> {
  const answer = await fetch(upstream.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  const { errors } = (await answer.json()) as { errors?: unknown };
  return errors === undefined ? Number(answer.headers.get('x-points')) : null;
}

test.each([
  ['{ country(code: "CH") { name capital } }', 3],
  ['{ countries(filter: { continent: "SA", language: "es" }, first: 10) { name capital } }', 21],
  ['{ continents { name countries(first: 3) { name languages { native } } } }', 267],
])('the README’s %s is %i', async (query, points) => {
  const request = { query, variables: {} };
  expect([estimateOf(request), await statedPoints(request)]).toEqual([points, points]);
});

const FLAG = fc.constantFrom('', ' @include(if: $on)', ' @skip(if: $on)', ' @skip(if: false)');
const LEAF = fc
  .tuple(fc.constantFrom('name', 'code', 'a: name', '__typename', '...Named'), FLAG)
  .map((parts) => parts.join(''));

/** Fields of a country. */
function fieldsOf(depth: number): fc.Arbitrary<string> {
  const field = depth === 1 ? LEAF : fc.oneof(LEAF, nestedFields(depth - 1));
  return fc.array(field, { minLength: 1, maxLength: 3 }).map((fields) => fields.join(' '));
}

function nestedFields(depth: number): fc.Arbitrary<string> {
  const first = fc.constantFrom('', '(first: 3)', '(first: $n)');
  return fc
    .tuple(first, fieldsOf(depth), FLAG)
    .map(([args, fields, flag]) =>
      args === ''
        ? `continent${flag} { name c: countries(first: 2) { ${fields} } }`
        : `l${String(args.length)}: languages${flag} { name countries${args} { ${fields} } }`,
    );
}

test('estimates are the prices that the sample upstream states', async () => {
  const request = fc
    .record({ fields: fieldsOf(3), n: fc.nat({ max: 6 }), on: fc.boolean(), filtered: fc.boolean() })
    .map(({ fields, n, on, filtered }) => ({
      query: `query ($n: Int! = 2, $on: Boolean!) {
        countries(first: $n${filtered ? ', filter: { continent: "EU" }' : ''}) { code @skip(if: $on) ...Named @skip(if: true) ${fields} }
      } fragment Named on Country { native emoji }`,
      variables: { n, on },
    }));
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(request, async (each) => {
      const stated = await statedPoints(each);
      if (stated === null) return;
      compared += 1;
      expect(estimateOf(each)).toBe(stated);
    }),
    { numRuns: 200 },
  );
  expect(compared).toBeGreaterThan(100);
});
