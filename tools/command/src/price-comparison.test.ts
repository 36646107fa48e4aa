import { expect, test } from '@jest/globals';
import { byRootFields, ratioOf } from './price-comparison.ts';
import type { ComparedOperation } from './price-comparison.ts';

function compared(document: string | null, figures: Partial<ComparedOperation> = {}): ComparedOperation {
  return {
    api_version: 'v2',
    hash: 'a'.repeat(64),
    name: null,
    requests: 1,
    points: 3,
    estimated_points: 2,
    exceeding_requests: 1,
    excess_points: 1,
    document,
    ...figures,
  };
}

test.each([
  ['query {\n  users(first: 0) {\n    name\n  }\n}', 'query.users'],
  ['mutation M($v: Int = 0) {\n  mine: add(v: $v)\n  add\n}', 'mutation.add'],
  ['query {\n  b\n  ... on Query @skip(if: true) {\n    a {\n      x\n    }\n  }\n}', 'query.a + query.b'],
  ['fragment F on Query {\n  c {\n    d\n  }\n  ...F\n}\nquery Q {\n  ...F @include(if: $v)\n}', 'query.c'],
])('%j is of %s', (document, root_fields) => {
  expect(byRootFields([compared(document)])).toMatchObject([{ root_fields, operations: 1 }]);
});

test('of a document with several operations, the one of the name counts', () => {
  const document = 'query One {\n  a\n}\nquery Two {\n  b\n}';
  const fields = byRootFields([compared(document, { name: 'Two' }), compared(document), compared(null)]);
  expect(fields).toMatchObject([{ root_fields: 'query.b', operations: 1 }]);
});

test('sums are by root fields, those furthest from their prices first', () => {
  const a = 'query {\n  a\n}';
  const fields = byRootFields([
    compared(a),
    compared('query {\n  b\n}', { points: 90, estimated_points: 10 }),
    compared(a, { name: 'A', points: 1, estimated_points: 4, exceeding_requests: 0, excess_points: 0 }),
  ]);
  expect(fields).toMatchObject([
    { root_fields: 'query.b' },
    { root_fields: 'query.a', operations: 2, requests: 2, points: 4, estimated_points: 6, excess_points: 1 },
  ]);
});

test('the ratio is of the price to the estimate', () => {
  expect([ratioOf(compared(null)), ratioOf(compared(null, { estimated_points: 0 }))]).toEqual(['1.50', '-']);
});
