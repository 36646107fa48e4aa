import { expect, test } from '@jest/globals';
import { foldNeighbours } from './fold-neighbours.ts';
import type { RefusedCall } from './queries.ts';

let lastId = 1_000;

/** Newest first, as the API lists them. */
function call(differing: Partial<RefusedCall> = {}): RefusedCall {
  lastId -= 1;
  return {
    refusal_id: lastId,
    at: '2026-11-27T17:00:00.000Z',
    request_id: lastId.toString(16).padStart(32, '0'),
    transport: 'http',
    kind: 'call',
    code: 'session_limit_exceeded',
    status: 429,
    account_id: 1,
    account_name: 'Ada',
    application_id: 1,
    application_name: 'Shop',
    application_type: 'automatic',
    operation_name: null,
    api_version: 'v2',
    duration_ms: 1,
    points: 0,
    detail: null,
    unrecorded_before: 0,
    ...differing,
  };
}

const counts = (calls: readonly RefusedCall[]) => foldNeighbours(calls).map(({ count }) => count);

test('folds equal neighbours, and keeps each call and their order', () => {
  const calls = [call(), call(), call({ code: 'unauthorized', status: 401 }), call()];
  const folds = foldNeighbours(calls);
  expect(folds.map(({ count }) => count)).toEqual([2, 1, 1]);
  expect(folds.flatMap((fold) => [...fold.calls])).toEqual(calls);
});

test('counts the calls that were only counted', () => {
  expect(counts([call({ unrecorded_before: 900 }), call({ unrecorded_before: 12 }), call()])).toEqual([915]);
  expect(counts([call({ unrecorded_before: 12 })])).toEqual([13]);
});

test.each<Partial<RefusedCall>>([
  { code: 'rate_limit_exceeded' },
  { status: 503 },
  { kind: 'operation' },
  { application_id: 2 },
  { application_id: null },
  { account_id: 2 },
])('does not fold a neighbour with %j', (differing) => {
  expect(counts([call(), call(differing), call()])).toEqual([1, 1, 1]);
});

test.each<Partial<RefusedCall>>([
  { at: '2026-11-26T17:00:00.000Z' },
  { detail: 'At most 100 calls at once.' },
  { operation_name: 'Countries' },
  { duration_ms: null },
])('folds a neighbour with %j', (differing) => {
  expect(counts([call(), call(differing)])).toEqual([2]);
});

test('folds nothing into nothing', () => {
  expect(foldNeighbours([])).toEqual([]);
});
