import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { call } from '../../test/suite/http-client.ts';

const SDL = `
  directive @cost(weight: String!) on FIELD_DEFINITION | OBJECT | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
  directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!]) on FIELD_DEFINITION
  directive @approx(by: Float @cost(weight: "-3")) on FIELD
  input Filter { exact: Boolean @cost(weight: "0.5") page: Page }
  input Page { first: Int }
  type Query {
    users(filter: Filter): [User] @listSize(slicingArguments: ["filter.page.first"], assumedSize: 7)
    films(first: Int): Films @listSize(slicingArguments: ["first"], sizedFields: ["edges"])
    count: Int
  }
  type Films { edges: [User] }
  type User @cost(weight: "2") { name: String }
`;

let folder: string;
let gateway: GatewayUnderTest;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'schema-costs-'));
  await writeFile(join(folder, 'schema.graphql'), SDL);
  await writeFile(join(folder, 'costs.json'), '{"weights":{"Query.count":4}}');
  gateway = await startGateway({
    env: {
      GRAPHQL_SCHEMA: join(folder, 'schema.graphql'),
      GRAPHQL_COSTS: join(folder, 'costs.json'),
      GRAPHQL_LIST_SIZE: '25',
      ESTIMATES_PER_MINUTE: '3',
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true });
});

function ask(options: { method?: string; token?: string } = {}) {
  const { method = 'GET', token = gateway.auth.issue({ accountId: 9_990 }) } = options;
  return call(`${gateway.graphqlUrl}/costs`, { method, headers: { authorization: `Bearer ${token}` } });
}

test('what the schema and the file of weights state is told by coordinate, free and without a call', async () => {
  const answer = await ask();
  expect([answer.status, answer.headers['x-points-cost'], answer.headers['cache-control']]).toEqual([
    200,
    '0',
    'no-store',
  ]);
  expect(answer.json()).toEqual({
    weights: {
      'Query.users': 1,
      'Query.users(filter:)': 1,
      'Query.films': 1,
      'Query.count': 4,
      'Films.edges': 1,
      User: 2,
      'Filter.exact': 0.5,
      'Filter.page': 1,
      '@approx(by:)': -3,
    },
    list_sizes: {
      'Query.users': { slicing_arguments: ['filter.page.first'], assumed_size: 7, sized_fields: [] },
      'Query.films': { slicing_arguments: ['first'], assumed_size: null, sized_fields: ['edges'] },
    },
    list_size: 25,
  });
});

test('it needs a token and GET, and takes from the rate of estimates', async () => {
  expect((await ask({ token: 'wrong' })).status).toBe(401);
  const token = gateway.auth.issue({ accountId: 9_991 });
  const statuses: number[] = [];
  for (const method of ['GET', 'POST', 'GET', 'GET', 'GET'])
    statuses.push((await ask({ method, token })).status);
  expect(statuses).toEqual([200, 405, 200, 200, 429]);
});

test('another version without a schema has none', async () => {
  const url = gateway.graphqlUrl.replace('/graphql', '/v1/graphql/costs');
  const headers = { authorization: `Bearer ${gateway.auth.issue({ accountId: 9_992 })}` };
  expect((await call(url, { method: 'GET', headers })).status).toBe(404);
});
