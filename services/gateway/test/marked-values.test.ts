import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mastersOf } from '@tollgate/redis';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { startCollector } from './suite/collector.ts';
import type { Collector } from './suite/collector.ts';
import { call } from './suite/http-client.ts';
import type { Answer, Call } from './suite/http-client.ts';
import { openRaw, openReady } from './suite/raw-socket.ts';
import { startRealServices } from './suite/real-services.ts';
import type { Customer, RealServices } from './suite/real-services.ts';
import { say, startScriptedUpstream } from './suite/upstreams/scripted-upstream.ts';
import type { ScriptedUpstream } from './suite/upstreams/scripted-upstream.ts';
import { bodyOf, startServer } from './suite/upstreams/server.ts';
import type { TestServer } from './suite/upstreams/server.ts';

/** In literals and values of whatever is sent; written alike in JSON and in URLs. */
const MARK = 'marked7f3a9k2x';
/** In a document that is registered, whose text is kept as it is, for that alone. */
const REGISTERED = 'registered4c8t1z';
/** What may be kept: the name of an operation. */
const NAME = 'KnownName';

const SDL = `
  directive @cost(weight: String!) on FIELD_DEFINITION
  directive @listSize(slicingArguments: [String!]) on FIELD_DEFINITION
  input Filter { text: String notes: [String] first: Int }
  type Query {
    find(text: String, filter: Filter): [Item] @listSize(slicingArguments: ["filter.first"])
  }
  type Mutation { keep(text: String): Item }
  type Subscription { found(text: String): Item }
  type Item { name(like: String): String @cost(weight: "1") }
`;

let folder: string;
let collector: Collector;
let upstream: TestServer;
let socketUpstream: ScriptedUpstream;
let services: RealServices;
let customer: Customer;
/** Whose plan limits the points of a call. */
let limited: Customer;
/** Without points. */
let exhausted: Customer;
/** Whose application is limited to its own documents. */
let trusting: Customer;
let stopWatching: () => void;

/** What the data API was sent. */
const forwarded: string[] = [];
const redisCommands: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marked-values-'));
  await writeFile(join(folder, 'schema.graphql'), SDL);
  await writeFile(
    join(folder, 'documents.json'),
    JSON.stringify({ byId: `query ById { find(text: "${MARK}") { name } }` }),
  );
  [collector, socketUpstream] = await Promise.all([startCollector(), startScriptedUpstream()]);
  upstream = await startServer((req, res) => {
    void bodyOf(req).then((body) => {
      forwarded.push(`${req.url ?? ''}\n${body.toString('latin1')}`);
      const type = req.headers.accept === 'text/event-stream' ? 'text/event-stream' : 'application/json';
      const status = body.includes('Fails') ? 500 : 200;
      res.writeHead(status, { 'content-type': type, 'x-points': '2' });
      if (body.includes('BreaksOff')) res.write(`{"data":"${MARK}`, () => res.destroy());
      else if (type === 'application/json') res.end(`{"errors":[{"message":"no ${MARK}"}]}`);
      else res.end(`event: next\ndata: {"data":"${MARK}"}\n\nevent: complete\ndata:\n\n`);
    });
  });
  socketUpstream.onMessage(({ type, id = '' }, socket) => {
    if (type === 'connection_init') say(socket, { type: 'connection_ack' });
    if (type !== 'subscribe') return;
    say(socket, { type: 'next', id, payload: { data: MARK } });
    say(socket, { type: 'error', id, payload: [{ message: `no ${MARK}` }] });
  });
  const telemetry = {
    LOG_LEVEL: 'trace',
    ACCESS_LOG: 'stdout',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'always_on',
  };
  services = await startRealServices({
    commonEnv: telemetry,
    gatewayEnv: {
      UPSTREAM_URL: `${upstream.url}/graphql`,
      UPSTREAM_WS_URL: socketUpstream.url,
      STREAMING_URL: 'http://data.example',
      GRAPHQL_SCHEMA: join(folder, 'schema.graphql'),
      GRAPHQL_DOCUMENTS: join(folder, 'documents.json'),
      GRAPHQL_UPLOADS: 'on',
      ESTIMATES_PER_MINUTE: '100000',
    },
  });
  const [master] = mastersOf(services.store);
  if (master === undefined) throw new Error('there is no Redis');
  const monitor = await master.monitor();
  monitor.on('monitor', (_time: string, command: string[]) => redisCommands.push(command.join(' ')));
  stopWatching = () => {
    monitor.disconnect();
  };
  [customer, limited, exhausted, trusting] = await Promise.all([
    services.newCustomer({ session_limit: 100, subscription_limit: 100 }),
    services.newCustomer({ points_per_call_limit: 5 }),
    services.newCustomer({ points_limit: 0 }),
    services.newCustomer({}),
  ]);
});

afterAll(async () => {
  stopWatching();
  await services.stop();
  await Promise.all([upstream.close(), socketUpstream.close(), collector.goAway()]);
  await rm(folder, { recursive: true });
});

type Sent = Call & { path?: string; token?: string };

async function send({ path = '/graphql', token = customer.token, headers, ...rest }: Sent): Promise<Answer> {
  return call(services.gateways[0].publicUrl + path, {
    ...rest,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
}

const json = (body: unknown, more: Sent = {}): Sent => ({ body: JSON.stringify(body), ...more });

const QUERY = `query ${NAME}($f: Filter) { find(text: "${MARK}", filter: $f) { name(like: """${MARK}""") } }`;
const VARIABLES = { f: { text: MARK, notes: [MARK], first: 2 } };
/** Longer bodies are parsed and priced in threads. */
const long = (first: number, length = 300_000) => ({
  f: { ...VARIABLES.f, first, notes: [MARK, 'x'.repeat(length)] },
});
const deep = `{ ${'find { '.repeat(60)} name(like: "${MARK}") ${'}'.repeat(61)}`;
const REGISTRATION = { persistedQuery: { version: 1, sha256Hash: hash('sha256', QUERY) } };

const search = (parameters: Record<string, string>) => `?${new URLSearchParams(parameters).toString()}`;
const part = (name: string, content: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;

/** What is sent over HTTP, and its status. */
const CALLS: readonly [string, number, () => Sent][] = [
  ['a query', 200, () => json({ query: QUERY, variables: VARIABLES })],
  ['the same again', 200, () => json({ query: QUERY, variables: VARIABLES })],
  [
    'by GET',
    200,
    () => ({
      method: 'GET',
      path: `/graphql${search({ query: QUERY, variables: JSON.stringify(VARIABLES), token: MARK })}`,
    }),
  ],
  [
    'a batch',
    200,
    () => json([{ query: QUERY, variables: VARIABLES }, { query: `{ find(text: "${MARK}") { name } }` }]),
  ],
  ['a list of variables', 200, () => json({ query: QUERY, variables: [VARIABLES, VARIABLES] })],
  ['a long body', 200, () => json({ query: QUERY, variables: long(2) })],
  [
    'a long body that would cost too much',
    400,
    () => json({ query: QUERY, variables: long(99) }, { token: limited.token }),
  ],
  ['a long body that is no JSON', 400, () => ({ body: `{"query":"${MARK}","x":"${'x'.repeat(300_000)}` })],
  [
    'a long body that could be read differently',
    400,
    () => ({ body: `{"query":"{ a }","Query":"${MARK}","x":"${'x'.repeat(300_000)}"}` }),
  ],
  [
    'an estimate of a long body',
    200,
    () => json({ query: QUERY, variables: long(2) }, { path: '/graphql/estimate' }),
  ],
  [
    'an estimate',
    200,
    () => json({ query: QUERY, variables: VARIABLES }, { headers: { 'x-points-estimate': 'only' } }),
  ],
  [
    'another value of that header',
    400,
    () => json({ query: QUERY }, { headers: { 'x-points-estimate': MARK } }),
  ],
  [
    'what would cost too much',
    400,
    () => json({ query: QUERY, variables: { f: { ...VARIABLES.f, first: 99 } } }, { token: limited.token }),
  ],
  [
    'variables that do not fit',
    400,
    () =>
      json(
        { query: QUERY, variables: { f: MARK } },
        { token: limited.token, headers: { accept: 'application/graphql-response+json' } },
      ),
  ],
  ['a document that does not parse', 200, () => json({ query: `{ find(text: "${MARK}" }` })],
  ['one whose text does not end', 200, () => json({ query: `{ find(text: "${MARK}` })],
  ['one that is nested too deep', 400, () => json({ query: deep })],
  [
    'one that is too long',
    413,
    () => json({ query: `{ find(text: "${MARK}") { name } } #${' '.repeat(65_536)}` }),
  ],
  ['no JSON', 400, () => ({ body: `{"query":"${MARK}` })],
  ['no object', 400, () => json(MARK)],
  [
    'a repeated name in extensions',
    400,
    () => ({ body: `{"query":"{ a }","extensions":{"${MARK}":1,"${MARK}":2}}` }),
  ],
  ['another media type', 415, () => ({ body: MARK, headers: { 'content-type': `text/${MARK}` } })],
  ['another content coding', 415, () => json({ query: QUERY }, { headers: { 'content-encoding': MARK } })],
  [
    'an operationName that is none',
    200,
    () => json({ query: QUERY, operationName: `${MARK} ${MARK}`, variables: VARIABLES }),
  ],
  ['an id', 200, () => json({ documentId: 'byId', variables: VARIABLES })],
  ['an unknown id', 400, () => json({ documentId: MARK })],
  ['an unknown hash', 200, () => json({ extensions: { persistedQuery: { version: 1, sha256Hash: MARK } } })],
  [
    'a wrong hash',
    400,
    () => json({ query: QUERY, extensions: { persistedQuery: { version: 1, sha256Hash: MARK } } }),
  ],
  ['a registration', 200, () => json({ query: QUERY, variables: VARIABLES, extensions: REGISTRATION })],
  ['what was registered', 200, () => json({ variables: VARIABLES, extensions: REGISTRATION })],
  ['a long body with what was registered', 200, () => json({ variables: long(2), extensions: REGISTRATION })],
  ['other extensions', 200, () => json({ query: QUERY, extensions: { note: MARK } })],
  [
    'an upload',
    200,
    () => ({
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: `${part('operations', JSON.stringify({ query: QUERY, variables: VARIABLES }))}${part('map', '{"0":["variables.f"]}')}${part('0', MARK)}--b--\r\n`,
    }),
  ],
  [
    'an upload without operations',
    400,
    () => ({
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: `${part(MARK, MARK)}--b--\r\n`,
    }),
  ],
  ['a mutation', 200, () => json({ query: `mutation { keep(text: "${MARK}") { name } }` })],
  [
    'a subscription by events',
    200,
    () =>
      json(
        { query: `subscription { found(text: "${MARK}") { name } }` },
        { headers: { accept: 'text/event-stream' } },
      ),
  ],
  ['an error of the data API', 500, () => json({ query: `query Fails { find(text: "${MARK}") { name } }` })],
  [
    'one that it breaks off',
    502,
    () => json({ query: `query BreaksOff { find(text: "${MARK}") { name } }` }),
  ],
  [
    'a wrong token',
    401,
    () =>
      json(
        { query: QUERY },
        { token: MARK, path: `/graphql${search({ query: MARK, operationName: `${MARK}-${MARK}` })}` },
      ),
  ],
  ['no points', 402, () => json({ query: QUERY, variables: VARIABLES }, { token: exhausted.token })],
];

/** What is sent over WebSocket, and how it is answered. */
const MESSAGES: readonly [string, string, unknown][] = [
  ['a query', 'error', { query: QUERY, variables: VARIABLES }],
  ['a subscription', 'error', { query: `subscription { found(text: "${MARK}") { name } }` }],
  ['a document that does not parse', 'error', { query: `{ find(text: "${MARK}" }` }],
  ['one that is nested too deep', 'error', { query: deep }],
  ['an unknown id', 'error', { id: MARK }],
  ['an operationName that is none', 'error', { query: QUERY, operationName: `${MARK} ${MARK}` }],
  ['a list of variables', 'error', { query: QUERY, variables: [VARIABLES] }],
];

const tool = (name: string, args: Record<string, unknown>) =>
  json({ jsonrpc: '2.0', id: MARK, method: 'tools/call', params: { name, arguments: args } });

const TOOLS: readonly [string, Record<string, unknown>][] = [
  ['run_query', { query: QUERY, variables: VARIABLES }],
  ['run_query', { query: `{ find(text: "${MARK}" }` }],
  ['run_query', { query: MARK, variables: MARK }],
  ['run_query', { query: QUERY, operationName: `${MARK} ${MARK}` }],
  ['estimate_query', { query: QUERY, variables: VARIABLES }],
  ['search_schema', { words: MARK }],
  ['read_usage', { note: MARK }],
  [MARK, {}],
];

test('what callers send is stored and told nowhere', async () => {
  const statuses: Record<string, number> = {};
  for (const [what, , sent] of CALLS) statuses[what] = (await send(sent())).status;
  expect(statuses).toEqual(Object.fromEntries(CALLS.map(([what, status]) => [what, status])));
  await overSockets();
  for (const [name, args] of TOOLS) {
    const answer = await send({
      ...tool(name, args),
      path: '/mcp',
      headers: { host: 'data.example', accept: 'application/json, text/event-stream' },
    });
    expect([name, answer.status]).toEqual([name, 200]);
  }
  await withTrustedDocuments();

  // What reached the data API was marked, so it was looked for.
  expect(forwarded.filter((each) => each.includes(MARK)).length).toBeGreaterThan(15);
  expect(
    socketUpstream.received.filter((each) => JSON.stringify(each).includes(MARK)).length,
  ).toBeGreaterThan(2);

  await services.allCounted();
  const metrics = await metricsOf(services);
  const { auth, account, gateways } = services;
  // Their ends send what is recorded of traces.
  await Promise.all([auth, account, ...gateways].map((service) => service.stop()));
  const places = {
    redis: redisCommands.join('\n'),
    logs: [auth, account, ...gateways].map((service) => service.logs()).join('\n'),
    traces: collector.everything(),
    metrics,
    ...(await tables()),
  };
  const found = (word: string) =>
    Object.entries(places)
      .filter(([, text]) => formsOf(word).some((form) => text.includes(form)))
      .map(([place]) => place)
      .toSorted();
  expect(found(MARK)).toEqual([]);
  // What is found where it may be is looked for in the right places.
  expect(found(NAME)).toEqual(expect.arrayContaining(['operation_documents', 'redis', 'usage_operations']));
  expect(found(REGISTERED)).toEqual(['trusted_documents']);
  expect(places.logs).toContain('data call');
  expect(places.traces).toContain('POST /graphql');
  expect(metrics).toContain('tollgate_');
  // What callers name is no label.
  expect(found(NAME)).not.toContain('metrics');
});

async function overSockets(): Promise<void> {
  const url = `${services.gateways[0].publicUrl.replace('http', 'ws')}/graphql`;
  const raw = await openReady(url, customer.token);
  raw.send({ type: 'ping', payload: MARK });
  for (const [index, [, , payload]] of MESSAGES.entries())
    raw.send({ type: 'subscribe', id: String(index), payload });
  for (const [index, [, type]] of MESSAGES.entries()) await raw.message({ type, id: String(index) });
  raw.socket.close();
  const limitedSocket = await openReady(url, limited.token);
  limitedSocket.send({
    type: 'subscribe',
    id: MARK,
    payload: { query: QUERY, variables: { f: { first: 99 } } },
  });
  await limitedSocket.message({ type: 'error', id: MARK });
  limitedSocket.socket.close();
  const withInit = await openRaw(url);
  withInit.send({ type: 'connection_init', payload: { token: customer.token, note: MARK } });
  await withInit.message({ type: 'connection_ack' });
  withInit.send({
    type: 'subscribe',
    id: 'a',
    payload: { query: QUERY, variables: long(2, 100_000), operationName: NAME },
  });
  await withInit.message({ type: 'error', id: 'a' });
  for (const last of [`{"type":"${MARK}"`, { type: MARK }, { type: 'connection_init', payload: MARK }]) {
    const each = last === `{"type":"${MARK}"` ? withInit : await openRaw(url);
    each.send(last);
    await each.closed;
  }
}

/** Of an application that is limited to its own, registered by the operator. */
async function withTrustedDocuments(): Promise<void> {
  const path = `/private/applications/${String(trusting.applicationId)}/trusted-documents`;
  const text = `query Trusted { find(text: "${REGISTERED}") { name } }`;
  await services.operate('POST', path, { documents: [{ document_id: 'trusted', text }] });
  await expect(
    services.operate('POST', path, { documents: [{ document_id: 'x', text: MARK, api_version: MARK }] }),
  ).rejects.toThrow('400');
  await services.operate('PUT', path, { enforced: true });
  const statusOf = async (body: object) => (await send(json(body, { token: trusting.token }))).status;
  await waitFor(async () => (await statusOf({ query: QUERY, variables: VARIABLES })) === 400);
  expect(await statusOf({ query: text, variables: VARIABLES })).toBe(200);
  expect(await statusOf({ documentId: 'trusted' })).toBe(200);
  expect(await statusOf({ query: text.replace(REGISTERED, MARK) })).toBe(400);
}

async function metricsOf({ auth, account, gateways }: RealServices): Promise<string> {
  const all = [auth, account, ...gateways].map(async ({ privateUrl }) =>
    (await fetch(`${privateUrl}/metrics`)).text(),
  );
  return (await Promise.all(all)).join('\n');
}

/** The rows of each table. */
function tables(): Promise<Record<string, string>> {
  return withClient(services.databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const texts: Record<string, string> = {};
    for (const { name } of rows)
      texts[name.replace('public.', '')] = JSON.stringify((await client.query(`SELECT * FROM ${name}`)).rows);
    return texts;
  });
}

/** As it is, and in hex and base64, at each place where its bytes can begin. */
function formsOf(word: string): string[] {
  const bytes = Buffer.from(word);
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), -4),
  );
  return [word, bytes.toString('hex'), ...base64];
}
