import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { openReady } from '../../test/suite/raw-socket.ts';
import { withCallRules } from '../../test/suite/stand-ins.ts';
import { say, startScriptedUpstream } from '../../test/suite/upstreams/scripted-upstream.ts';
import type { ScriptedUpstream } from '../../test/suite/upstreams/scripted-upstream.ts';

let folder: string;
let sockets: ScriptedUpstream;
let gateway: GatewayUnderTest;
let accountId = 9_800;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compared-'));
  const path = join(folder, 'schema.graphql');
  await writeFile(
    path,
    'directive @cost(weight: String!) on FIELD_DEFINITION type Query { a: Int @cost(weight: "7")  }',
  );
  sockets = await startScriptedUpstream();
  gateway = await startGateway({
    env: { GRAPHQL_SCHEMA: path, UPSTREAM_WS_URL: sockets.url, UPSTREAM_POINTS_EXTENSION: 'points' },
  });
});

beforeEach(() => {
  accountId += 1;
});

afterAll(async () => {
  await gateway.stop();
  await sockets.close();
  await rm(folder, { recursive: true });
});

async function ask(body: string, status: number, headers: Record<string, string>): Promise<void> {
  gateway.upstream((req, res) => {
    req.resume();
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{"data":{}}');
  });
  await gateway.query({ body, token: gateway.auth.issue({ accountId }) });
}

const comparedOf = async (calls: number) =>
  (await gateway.usage(calls, accountId)).flatMap(({ operations = [] }) =>
    operations.flatMap(({ compared }) => compared ?? []),
  );

const outcomes = () =>
  Promise.all(
    ['within', 'exceeded'].map((outcome) => gateway.metric('tollgate_estimated_calls_total', { outcome })),
  );

test('usage has what a call was estimated to cost beside the price that the upstream stated', async () => {
  const [within = 0, exceeded = 0] = await outcomes();
  await ask('{"query":"{ a }"}', 200, { 'x-points': '9' });
  expect(await comparedOf(1)).toEqual([
    { requests: 1, points: 9, estimated_points: 7, exceeding_requests: 1, excess_points: 2 },
  ]);
  await ask('{"query":"{ a }"}', 200, { 'x-points': '7' });
  expect(await outcomes()).toEqual([within + 1, exceeded + 1]);
});

test.each<[string, string, number, Record<string, string>]>([
  ['without a stated price', '{"query":"{ a }"}', 200, {}],
  ['without an estimate', '{"query":"{ unknown }"}', 200, { 'x-points': '9' }],
  ['that failed', '{"query":"{ a }"}', 400, { 'x-points': '1' }],
])('a call %s is not compared', async (_what, body, status, headers) => {
  const before = await outcomes();
  await ask(body, status, headers);
  expect(await comparedOf(1)).toEqual([]);
  expect(await outcomes()).toEqual(before);
});

test('over WebSocket, what costs more than was reserved is counted', async () => {
  const [, exceeded = 0] = await outcomes();
  gateway.account.entitle(accountId, withCallRules(accountId, { strict_points: true }, { points_limit: 99 }));
  sockets.onMessage(({ type, id = '' }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
    if (type === 'subscribe')
      say(socket, { type: 'next', id, payload: { data: null, extensions: { points: 8 } } });
  });
  const token = gateway.auth.issue({ accountId });
  const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), token);
  raw.send({ id: '1', type: 'subscribe', payload: { query: '{ a }' } });
  await raw.message({ type: 'next', id: '1' });
  expect((await outcomes())[1]).toBe(exceeded + 1);
  raw.socket.close();
});
