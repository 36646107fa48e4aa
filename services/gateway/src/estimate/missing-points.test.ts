import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_EVENT_COUNTER } from '@tollgate/contracts/usage-stream';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { openReady } from '../../test/suite/raw-socket.ts';
import { startGraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';

const DEFAULT_POINTS = 3;
const HUGE = '{"query":"{ all(first: 2000000000) { id } }"}';

let folder: string;
let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'missing-points-'));
  const path = join(folder, 'schema.graphql');
  await writeFile(
    path,
    `directive @cost(weight: String!) on FIELD_DEFINITION
     directive @listSize(slicingArguments: [String!]) on FIELD_DEFINITION
     type Query { a: Int @cost(weight: "7") all(first: Int): [Item] @listSize(slicingArguments: ["first"]) }
     type Item { id: Int @cost(weight: "1000000000") }`,
  );
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: {
      GRAPHQL_SCHEMA: path,
      MISSING_POINTS: 'estimate',
      DEFAULT_POINTS: String(DEFAULT_POINTS),
      UPSTREAM_WS_URL: upstream.url,
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await rm(folder, { recursive: true });
});

async function costOf(body: string, status: number, headers: Record<string, string>) {
  gateway.upstream((_req, res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{"data":{}}');
  });
  return (await gateway.query({ body })).headers['x-points-cost'];
}

test.each<[string, string, number, Record<string, string>, string]>([
  ['the estimate without a stated price', '{"query":"{ a }"}', 200, {}, '7'],
  ['the estimates of a batch', '[{"query":"{ a }"},{"query":"{ a }"}]', 200, {}, '14'],
  ['no more than account counts of a call', `[${HUGE},${HUGE}]`, 200, {}, String(MAX_EVENT_COUNTER)],
  ['the stated price', '{"query":"{ a }"}', 200, { 'x-points': '2' }, '2'],
  ['the default without an estimate', '{"query":"{ b }"}', 200, {}, '3'],
  ['nothing for a server error', '{"query":"{ a }"}', 500, {}, '0'],
])('%s', async (_what, body, status, headers, points) => {
  expect(await costOf(body, status, headers)).toBe(points);
});

test('over WebSocket, a call costs its estimate, too', async () => {
  const accountId = 9_700;
  const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), gateway.auth.issue({ accountId }));
  raw.send({ id: 'a', type: 'subscribe', payload: { query: '{ __typename }' } });
  await raw.message({ type: 'next', id: 'a' });
  const points = (await gateway.usage(1, accountId)).map((event) => event.points);
  expect(points).toEqual([1]);
  raw.socket.close();
});
