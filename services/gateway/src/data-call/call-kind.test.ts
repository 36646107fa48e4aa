import { expect, test } from '@jest/globals';
import { callKind } from './call-kind.ts';

const APOLLO_SUBSCRIPTION = 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0';
const URQL_QUERY =
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed';

test.each([
  ['text/event-stream', 'subscription'],
  ['text/event-stream;q=0.5', 'subscription'],
  ['text/event-stream, multipart/mixed', 'subscription'],
  ['Text/Event-Stream, application/json;q=0.9', 'subscription'],
  ['application/json;q=0.4, text/event-stream;q=0.5', 'subscription'],
  [`${APOLLO_SUBSCRIPTION},application/graphql-response+json,application/json;q=0.9`, 'subscription'],
  ['*/*', 'call'],
  ['', 'call'],
  ['application/json', 'call'],
  [URQL_QUERY, 'call'],
  ['multipart/mixed;deferSpec=20220824,application/json', 'call'],
  ['application/json, text/event-stream;q=0.9', 'call'],
  ['text/event-stream;q=0', 'call'],
  ['text/event-stream;q=x', 'call'],
])('Accept: %s is admitted as a %s', (accept, kind) => {
  expect(callKind(['Accept', accept])).toBe(kind);
});

test('no Accept is a call; of several, the first of the best counts', () => {
  expect(callKind([])).toBe('call');
  expect(callKind(['Accept', 'application/json', 'Accept', 'text/event-stream'])).toBe('call');
  expect(callKind(['Accept', 'text/event-stream', 'Accept', 'application/json'])).toBe('subscription');
});
