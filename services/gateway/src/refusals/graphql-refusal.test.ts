import { expect, test } from '@jest/globals';
import { refusalMediaType } from './graphql-refusal.ts';

const graphql = 'application/graphql-response+json';
const json = 'application/json';

test.each([
  [undefined, json],
  ['', json],
  ['*/*', json],
  ['text/html', json],
  [json, json],
  [graphql, graphql],
  [`${graphql}, ${json};q=0.9`, graphql],
  [`${graphql}; charset=utf-8, ${json}; charset=utf-8`, graphql],
  [`${json}, ${graphql}`, json],
  [`${json};q=0.5, ${graphql}`, graphql],
  [`${graphql};q=0`, json],
  [`${graphql};q=x, ${json}`, json],
  ['APPLICATION/GraphQL-Response+JSON', graphql],
])('Accept: %s is answered with %s', (accept, expected) => {
  expect(refusalMediaType(accept)).toBe(expected);
});
