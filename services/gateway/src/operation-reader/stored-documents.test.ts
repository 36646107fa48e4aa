import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseManifest } from '@tollgate/contracts/documents-manifest';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import type { Answer } from '../../test/suite/http-client.ts';
import { recordedRefusals } from '../../test/suite/records/recorded-refusals.ts';
import { openReady } from '../../test/suite/raw-socket.ts';
import { withLimits } from '../../test/suite/stand-ins.ts';
import { startGraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import { watchUpstream } from '../../test/suite/upstreams/watch-upstream.ts';
import type { UpstreamSeen } from '../../test/suite/upstreams/watch-upstream.ts';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { schema } from '../config.ts';
import { openManifest } from './documents-manifest.ts';
import { createLearnedTexts } from './learned-texts.ts';
import { createReadDataCall } from './read-call.ts';
import { createReaderOf } from './readers-of-plans.ts';
import { createStoredDocuments } from './stored-documents.ts';
import type { StoredDocuments, StoredDocumentsOptions } from './stored-documents.ts';

const REQUIRED = {
  SERVICE_CLIENT_ID: 'gateway',
  SERVICE_CLIENT_SECRET: 'a-secret-of-32-characters-or-more',
  SERVICE_CREDENTIALS: `operator:${'s'.repeat(43)}`,
  PUBLIC_PORT: '0',
  PRIVATE_PORT: '0',
  REDIS_URL: 'redis://redis.example.com:6379',
  AUTH_PRIVATE_URL: 'http://auth.example.com',
  AUTH_PUBLIC_URL: 'http://auth.example.com',
  ACCOUNT_PRIVATE_URL: 'http://account.example.com',
  ACCOUNT_PUBLIC_URL: 'http://account.example.com',
  UPSTREAM_URL: 'http://upstream.example.com/graphql',
};

const APOLLO = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [
    { id: 'read', name: 'Read', type: 'query', body: 'query Read { hello }' },
    { id: 'write', name: 'Write', type: 'mutation', body: 'mutation Write { hello }' },
    { id: 'wide', name: 'Wide', type: 'query', body: '{ a: hello b: hello c: hello }' },
    { id: 'ticks', name: 'Ticks', type: 'subscription', body: 'subscription Ticks { ticks(count: 1) }' },
  ],
};

let folder: string;
let sockets: GraphqlUpstream;
let gateway: GatewayUnderTest;
let seen: UpstreamSeen[];
let nextAccount = 9_100;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'documents-'));
  const path = join(folder, 'manifest.json');
  writeFileSync(path, JSON.stringify(APOLLO));
  sockets = await startGraphqlUpstream();
  gateway = await startGateway({
    env: {
      GRAPHQL_DOCUMENTS: path,
      GRAPHQL_MAX_ROOT_FIELDS: '2',
      MAX_REQUEST_BODY_BYTES: '150000',
      SUBSCRIPTION_POINTS_PER_MINUTE: '5',
      UPSTREAM_WS_URL: sockets.url,
    },
  });
});

beforeEach(() => {
  seen = watchUpstream(gateway);
});

afterAll(async () => {
  await gateway.stop();
  await sockets.close();
  rmSync(folder, { recursive: true });
});

function countTurns(): { stop: () => number } {
  let turns = 0;
  let timer = setImmediate(again);
  function again(): void {
    turns += 1;
    timer = setImmediate(again);
  }
  return {
    stop: () => {
      clearImmediate(timer);
      return turns;
    },
  };
}

function storedDocuments(
  textOf: StoredDocumentsOptions['textOf'],
  trusting: StoredDocumentsOptions['trusting'] = [],
): StoredDocuments {
  return createStoredDocuments({ apq: 'learn', learned: createLearnedTexts(), textOf, trusting });
}

function newToken(): string {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withLimits(accountId, {}));
  return gateway.auth.issue({ accountId });
}

const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
const post = (body: object, token?: string) =>
  gateway.query({ body: JSON.stringify(body), ...(token === undefined ? {} : { token }) });
const get = (parameters: Record<string, string>, token = newToken()) =>
  gateway.query({ method: 'GET', token, search: `?${new URLSearchParams(parameters).toString()}` });
const sentOf = (index: number) => JSON.parse(String(seen[index]?.body)) as unknown;

function codeOf(answer: Answer): unknown {
  const { errors } = answer.json() as { errors?: { extensions: { code: string } }[] };
  return errors?.[0]?.extensions.code;
}

describe('automatic persisted queries', () => {
  const query = 'query Hello { hello }';
  const extensions = persisted(hash('sha256', query));

  test('an unknown hash is answered as clients expect, and is free', async () => {
    const answer = await post({ extensions }, newToken());
    expect([answer.status, answer.headers['x-points-cost']]).toEqual([200, '0']);
    expect(answer.json()).toMatchObject({
      errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    });
    expect(seen).toHaveLength(0);
  });

  test('repeated in a URL is 400, since readers differ in which they take', async () => {
    const first = JSON.stringify(extensions).slice(0, -1);
    const answer = await get({ query, extensions: `${first},"persistedQuery":null}` });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    expect(seen).toHaveLength(0);
  });

  test('a registered one reaches the upstream with its text, by POST and GET', async () => {
    const token = newToken();
    expect((await post({ query, extensions }, token)).status).toBe(200);
    // Twice, since bodies that repeat are remembered.
    for (let times = 0; times < 3; times += 1) await post({ extensions, variables: { a: 1 } }, token);
    await get({ extensions: JSON.stringify(extensions) }, token);
    expect([0, 1, 2, 3].map(sentOf)).toEqual([
      { query, extensions },
      ...Array.from({ length: 3 }, () => ({ query, extensions, variables: { a: 1 } })),
    ]);
    const { searchParams } = new URL(seen[4]?.url ?? '', 'http://upstream');
    expect(Object.fromEntries(searchParams)).toEqual({ query, extensions: JSON.stringify(extensions) });
  });

  test('numbers keep their digits in a request that gets its text', async () => {
    const token = newToken();
    await post({ query, extensions }, token);
    const variables = '{"id":12345678901234567890,"price":1.10}';
    const body = `{"query":"","variables":${variables},"extensions":${JSON.stringify(extensions)}}`;
    await gateway.query({ token, body });
    expect(String(seen[1]?.body)).toContain(`"variables":${variables}`);
    expect(sentOf(1)).toMatchObject({ query });
  });

  test('what one account registers, another has to register itself, with the same bytes', async () => {
    const [one, other] = [newToken(), newToken()];
    for (let times = 0; times < 3; times += 1) await post({ query, extensions }, one);
    expect(codeOf(await post({ extensions }, other))).toBe('PERSISTED_QUERY_NOT_FOUND');
    await post({ query, extensions }, other);
    expect(codeOf(await post({ extensions }, other))).toBeUndefined();
  });

  test('a hash of another text is 400, and nothing is registered or sent', async () => {
    const token = newToken();
    const answer = await post({ query: '{ other }', extensions }, token);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'persisted_query_mismatch']);
    expect(codeOf(await post({ extensions }, token))).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect(seen).toHaveLength(0);
  });

  test.each([
    ['written in another case', { PersistedQuery: { sha256Hash: hash('sha256', query) } }],
    ['without a hash', { persistedQuery: { version: 1 } }],
    ['that is no object', { persistedQuery: 'abc' }],
  ])('one %s is 400', async (_what, malformed) => {
    expect(codeOf(await post({ query, extensions: malformed }))).toBe('invalid_request');
    expect(seen).toHaveLength(0);
  });

  test('the guards hold for a document that is named', async () => {
    const token = newToken();
    const wide = '{ a: hello b: hello c: hello }';
    const hashed = persisted(hash('sha256', wide));
    expect(codeOf(await post({ query: wide, extensions: hashed }, token))).toBe('too_many_root_fields');
    expect(codeOf(await post({ extensions: hashed }, token))).toBe('too_many_root_fields');
    expect(seen).toHaveLength(0);
  });

  test('a named mutation is no GET', async () => {
    const token = newToken();
    const mutation = 'mutation { hello }';
    const hashed = persisted(hash('sha256', mutation));
    await post({ query: mutation, extensions: hashed }, token);
    expect((await get({ extensions: JSON.stringify(hashed) }, token)).status).toBe(405);
  });

  test('in a batch, each gets its text', async () => {
    const token = newToken();
    await post({ query, extensions }, token);
    await post([{ extensions }, { query: '{ a }' }], token);
    expect(sentOf(1)).toEqual([{ extensions, query }, { query: '{ a }' }]);
  });

  test('a batch of names that is too large is refused before texts are put in', async () => {
    const token = newToken();
    await post({ query, extensions }, token);
    const names = Array.from({ length: 1_000 }, () => ({ extensions }));
    expect(codeOf(await post(names, token))).toBe('batch_too_large');
  });

  test('a body that is too large with its texts is refused, though it arrived short', async () => {
    const token = newToken();
    const long = `query Long { hello } #${'x'.repeat(60_000)}`;
    const named = { extensions: persisted(hash('sha256', long)) };
    expect((await post({ query: long, ...named }, token)).status).toBe(200);
    expect((await post([named, named], token)).status).toBe(200);
    expect(sentOf(1)).toEqual([
      { ...named, query: long },
      { ...named, query: long },
    ]);
    const answer = await post([named, named, named], token);
    expect([answer.status, codeOf(answer)]).toEqual([413, 'payload_too_large']);
    expect(seen).toHaveLength(2);
  });

  test('an unknown hash is no refused call, over HTTP or WebSocket', async () => {
    const accountId = (nextAccount += 1);
    gateway.account.entitle(accountId, withLimits(accountId, {}));
    const token = gateway.auth.issue({ accountId });
    const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), token);
    await post({ extensions: persisted('abc') }, token);
    raw.send({ id: '1', type: 'subscribe', payload: { extensions: persisted('abc') } });
    await raw.message({ type: 'error', id: '1' });
    // Told after them, so it tells that they were left out.
    raw.send({ id: '2', type: 'subscribe', payload: { documentId: 'none' } });
    await raw.message({ type: 'error', id: '2' });
    const recorded = async () => {
      const records = await recordedRefusals(gateway.redis.url);
      return records.filter(({ account_id }) => account_id === accountId);
    };
    await waitFor(async () => (await recorded()).length > 0);
    expect((await recorded()).map(({ code }) => code)).toEqual(['document_unknown']);
    raw.socket.close();
  });

  test('over WebSocket the upstream gets text and hash', async () => {
    const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), newToken());
    const ticks = 'subscription { ticks(count: 1) }';
    const hashed = persisted(hash('sha256', ticks));
    raw.send({ id: '1', type: 'subscribe', payload: { extensions: hashed } });
    expect((await raw.message({ type: 'error', id: '1' })).payload).toMatchObject([
      { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } },
    ]);
    raw.send({ id: '2', type: 'subscribe', payload: { query: ticks, extensions: hashed } });
    await raw.message({ type: 'complete', id: '2' });
    raw.send({ id: '3', type: 'subscribe', payload: { extensions: hashed } });
    await raw.message({ type: 'complete', id: '3' });
    raw.socket.close();
  });
});

describe('documents of the manifest', () => {
  test.each(['documentId', 'id', 'doc_id'])('%s: the upstream gets the text instead', async (name) => {
    await post({ [name]: 'read', variables: {} });
    expect(sentOf(0)).toEqual({ query: 'query Read { hello }', variables: {} });
  });

  test('by GET', async () => {
    await get({ documentId: 'read', operationName: 'Read' });
    const { searchParams } = new URL(seen[0]?.url ?? '', 'http://upstream');
    expect(Object.fromEntries(searchParams)).toEqual({
      operationName: 'Read',
      query: 'query Read { hello }',
    });
    expect((await get({ documentId: 'write' })).status).toBe(405);
  });

  test('as a hash, as clients of Apollo send ids: the text instead, since servers compare hashes', async () => {
    await post({ extensions: persisted('read') });
    await post({ extensions: { ...persisted('read'), tracing: true }, variables: {} });
    await get({ extensions: JSON.stringify(persisted('read')) });
    await get({ extensions: JSON.stringify({ ...persisted('read'), tracing: true }) });
    const query = 'query Read { hello }';
    expect([0, 1].map(sentOf)).toEqual([{ query }, { query, extensions: { tracing: true }, variables: {} }]);
    const sent = [2, 3].map((at) => new URL(seen[at]?.url ?? '', 'http://upstream').searchParams);
    expect(sent.map((parameters) => Object.fromEntries(parameters))).toEqual([
      { query },
      { query, extensions: '{"tracing":true}' },
    ]);
  });

  test('one that is sent as a hash has its type', async () => {
    const accountId = (nextAccount += 1);
    gateway.account.entitle(accountId, withLimits(accountId, { session_limit: 0, subscription_limit: 0 }));
    const token = gateway.auth.issue({ accountId });
    expect(codeOf(await post({ extensions: persisted('ticks') }, token))).toBe('subscription_limit_exceeded');
    expect(codeOf(await post({ extensions: persisted('read') }, token))).toBe('session_limit_exceeded');
  });

  test('over WebSocket', async () => {
    const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), newToken());
    raw.send({ id: '1', type: 'subscribe', payload: { documentId: 'ticks' } });
    await raw.message({ type: 'complete', id: '1' });
    raw.send({ id: '2', type: 'subscribe', payload: { documentId: 'none' } });
    expect((await raw.message({ type: 'error', id: '2' })).payload).toMatchObject([
      { extensions: { code: 'document_unknown' } },
    ]);
    raw.send({ id: '3', type: 'subscribe', payload: { id: 'none', query: 'subscription { ticks }' } });
    expect((await raw.message({ type: 'error', id: '3' })).payload).toMatchObject([
      { extensions: { code: 'invalid_request' } },
    ]);
    raw.socket.close();
  });

  test.each([
    ['an unknown id', { documentId: 'none' }, 'document_unknown'],
    ['an id that is no text', { documentId: 7 }, 'document_unknown'],
    ['two ids', { documentId: 'read', id: 'write' }, 'document_unknown'],
    ...['id', 'documentId', 'doc_id', 'operationId', 'query_hash', 'persisted'].map(
      (name) => [`${name} beside a text`, { [name]: 'read', query: '{ hello }' }, 'invalid_request'] as const,
    ),
    [
      'an id in extensions beside a text',
      { extensions: { operationId: 'read' }, query: '{ hello }' },
      'invalid_request',
    ],
    [
      'one in another case there',
      { extensions: { OPERATIONID: 'read' }, query: '{ hello }' },
      'invalid_request',
    ],
    ['an id in extensions alone', { extensions: { operationId: 'read' } }, 'document_unknown'],
    [
      'an id beside a text, in a batch',
      [{ query: '{ hello }' }, { id: 'read', query: '{ hello }' }],
      'invalid_request',
    ],
    [
      'an id beside a text and its hash',
      { id: 'read', query: '{ hello }', extensions: persisted(hash('sha256', '{ hello }')) },
      'invalid_request',
    ],
    [
      'an unknown id beside a known hash',
      { documentId: 'none', extensions: persisted('read') },
      'document_unknown',
    ],
    ['a hash in a text beside a text', { query: '{ hello }', extensions: '{}' }, 'invalid_request'],
    ['a hash in a text', { extensions: JSON.stringify(persisted('read')) }, 'invalid_request'],
    ['a document beyond the guards', { documentId: 'wide' }, 'too_many_root_fields'],
  ])('%s is 400', async (_what, body, code) => {
    const answer = await post(body);
    expect([answer.status, codeOf(answer)]).toEqual([400, code]);
    expect(seen).toHaveLength(0);
  });

  test('a metric tells how old they are, of the versions that have some', async () => {
    expect(await gateway.metric('tollgate_documents_age_seconds', { api_version: 'v2' })).toBeGreaterThan(0);
    expect(await gateway.metric('tollgate_documents_age_seconds', { api_version: 'v1' })).toBe(0);
  });

  test('of Relay', () => {
    expect([...parseManifest('{"abc":"{ a }"}')]).toEqual([['abc', '{ a }']]);
  });

  test.each([
    '',
    '[]',
    '{"abc":7}',
    '{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}',
  ])('no manifest: %s', (text) => {
    expect(() => parseManifest(text)).toThrow();
  });

  test('is read again, and one that can’t be used changes nothing', async () => {
    const path = join(folder, 'changing.json');
    writeFileSync(path, '{"a":"{ a }"}');
    const failures: unknown[] = [];
    const silent = createLogger('suite', 'silent');
    const logger = {
      info: silent.info.bind(silent),
      error: (...failure: unknown[]) => {
        failures.push(failure);
      },
    };
    const source = { path, apiVersion: 'v2', isTrusting: true, logger } as const;
    const manifest = await openManifest({ ...source, reloadMs: 20 });
    writeFileSync(path, '{"a":"{ a }","longer":"{ b }"}');
    await waitFor(() => manifest.current().has('longer'));
    expect(['{ a }', '{ b }', '{ c }'].map((text) => manifest.trusted()?.has(text))).toEqual([
      true,
      true,
      false,
    ]);
    writeFileSync(path, 'broken');
    await waitFor(() => failures.length === 1);
    expect([...manifest.current().keys()]).toEqual(['a', 'longer']);
    await waitFor(() => manifest.ageSec() > 0.1);
    writeFileSync(path, '{"a":"{ a }"}');
    await waitFor(() => manifest.ageSec() < 0.1);
    manifest.close();
  });
});

describe('a body that arrives whole', () => {
  const limits = { maxBytes: 400_000, idleTimeoutMs: 1_000, totalTimeoutMs: 1_000 };
  const guards = {
    maxDepth: 9,
    maxAliases: 0,
    maxRootFields: 0,
    maxDirectives: 0,
    maxTokens: 0,
    introspection: true,
  };
  const readerOf = createReaderOf({ maxDocumentBytes: 65_536, guards, batchLimit: 10 });
  const payer = { payerId: 1, callRules: null };
  const openLongBody = () => {
    throw new Error('the bodies here are short');
  };
  const requestOf = (body: unknown) =>
    ({
      method: 'POST',
      headers: {},
      rawHeaders: ['content-type', 'application/json'],
      wholeBody: Buffer.from(JSON.stringify(body)),
    }) as unknown as HttpRequest;

  test('and is short is read in turns if its texts are long, and takes room meanwhile', async () => {
    const long = `{ hello } #${'x'.repeat(40_000)}`;
    const documents = storedDocuments((id) => (id === 'long' ? long : undefined));
    const read = createReadDataCall({
      readerOf,
      body: limits,
      bodiesMaxBytes: 1,
      maxUploads: 0,
      openLongBody,
    });
    const batchOf = (count: number) => requestOf(Array.from({ length: count }, () => ({ id: 'long' })));
    expect(read(batchOf(1), payer, documents)).toMatchObject({ isLong: false });
    const reading = read(batchOf(9), payer, documents);
    expect(reading).toBeInstanceOf(Promise);
    const first = await reading;
    expect(first).toMatchObject({ isLong: true, operations: { count: 9 } });
    const second = await read(batchOf(9), payer, documents);
    await expect(read(batchOf(9), payer, documents)).rejects.toMatchObject({ code: 'too_many_requests' });
    first?.release();
    (await read(batchOf(9), payer, documents))?.release();
    second?.release();
  });

  test('and is a batch of some length has a turn of the event loop for each operation, a single one none', async () => {
    const documents = storedDocuments(() => undefined);
    const read = createReadDataCall({
      readerOf,
      body: limits,
      bodiesMaxBytes: 1,
      maxUploads: 0,
      openLongBody,
    });
    const query = `query Q($v: [Int!]) { ${Array.from({ length: 60 }, (_, index) => `a${String(index)}: hello(v: $v)`).join(' ')} }`;
    const single = { query, variables: { v: Array.from({ length: 300 }, (_, index) => index) } };
    expect(read(requestOf(single), payer, documents)).toMatchObject({ isLong: false });
    for (const batch of [
      Array.from({ length: 9 }, () => single),
      { query, variables: Array.from({ length: 9 }, () => single.variables) },
    ]) {
      const turns = countTurns();
      const call = await read(requestOf(batch), payer, documents);
      expect(call).toMatchObject({ isLong: true, operations: { isBatch: true } });
      expect(turns.stop()).toBeGreaterThanOrEqual(Array.isArray(batch) ? 9 : 1);
      call?.release();
    }
    const short = [{ query: '{ hello }' }, { query: '{ a: hello }' }];
    expect(read(requestOf(short), payer, documents)).toMatchObject({ isLong: false });
  });

  test.each([1, 9])('a reload while a batch of %i is read doesn’t mix two texts', async (count) => {
    let generation = 0;
    const documents = storedDocuments(() => `{ of${String((generation += 1))} #${'x'.repeat(20_000)}\n}`);
    const read = createReadDataCall({
      readerOf,
      body: limits,
      bodiesMaxBytes: 1,
      maxUploads: 0,
      openLongBody,
    });
    const call = await read(requestOf(Array.from({ length: count }, () => ({ id: 'a' }))), payer, documents);
    const bytes = call?.body as Buffer;
    const forwarded = JSON.parse(bytes.toString()) as { query: string }[];
    expect(call?.requests.map(({ text }) => text)).toEqual(forwarded.map(({ query }) => query));
    call?.release();
  });
});

describe('what is learned is bounded', () => {
  const text = 'x'.repeat(100_000);

  test('by payer', () => {
    const learned = createLearnedTexts();
    for (let number = 0; number < 20; number += 1) learned.set(1, String(number), text);
    learned.set(2, 'one', text);
    expect(learned.get(1, '0')).toBeUndefined();
    expect(learned.get(1, '19')).toBe(text);
    expect(learned.get(2, '19')).toBeUndefined();
  });

  test('in all: the payer whose documents were named longest ago loses them', () => {
    const learned = createLearnedTexts(250_000);
    learned.set(1, 'a', text);
    learned.set(2, 'b', text);
    learned.get(1, 'a');
    learned.set(3, 'c', text);
    expect([learned.get(1, 'a'), learned.get(2, 'b'), learned.get(3, 'c')]).toEqual([text, undefined, text]);
  });
});

describe('with APQ=pass', () => {
  let passing: GatewayUnderTest;

  beforeAll(async () => {
    passing = await startGateway({ env: { APQ: 'pass' } });
  });
  afterAll(() => passing.stop());

  test('a hash is forwarded unread', async () => {
    const forwarded = watchUpstream(passing);
    const body = JSON.stringify({ extensions: persisted('abc') });
    expect((await passing.query({ body })).status).toBe(200);
    expect(String(forwarded[0]?.body)).toBe(body);
  });
});

describe('where only registered documents run', () => {
  let trusting: GatewayUnderTest;
  let token: string;
  const introspection = '{ __schema { types { name } } }';
  const two = 'query One { a(text: "x", n: [1, 2]) ...F } fragment F on Query { b }';

  beforeAll(async () => {
    const path = join(folder, 'trusted.json');
    const more = { id: 'two', name: 'One', type: 'query', body: two };
    writeFileSync(path, JSON.stringify({ ...APOLLO, operations: [...APOLLO.operations, more] }));
    trusting = await startGateway({
      env: {
        GRAPHQL_DOCUMENTS: path,
        GRAPHQL_TRUSTED_DOCUMENTS: 'all',
        ESTIMATES_PER_MINUTE: '40',
        UPSTREAM_WS_URL: sockets.url,
      },
    });
  });
  beforeEach(() => {
    seen = watchUpstream(trusting);
    const accountId = (nextAccount += 1);
    trusting.account.entitle(accountId, withLimits(accountId, {}));
    token = trusting.auth.issue({ accountId });
  });
  afterAll(() => trusting.stop());

  const sent = (body: unknown) => trusting.query({ token, body: JSON.stringify(body) });

  test.each([
    ['by id', { documentId: 'read' }],
    ['as text', { query: 'query Read { hello }' }],
    ['with other blanks and comments', { query: '# mine\nquery Read {\n  hello,\n}' }],
    ['in another order', { query: 'fragment F on Query{b}query One{a(text:"x" n:[1 2])...F}' }],
    ['by its hash, once it is learned', { query: two, extensions: persisted(hash('sha256', two)) }],
  ])('one that is sent %s runs', async (_how, body) => {
    expect((await sent(body)).status).toBe(200);
    expect(seen).toHaveLength(1);
  });

  test.each([
    ['another text', 'query Read { hello secrets }'],
    ['another literal', two.replace('"x"', '"y"')],
    [
      'a literal that looks like tokens',
      two.replace('"x", n', String.raw`"x\" , n"`).replace(': [1, 2]', ''),
    ],
    ['a part of one', 'query One { a(text: "x", n: [1, 2]) ...F }'],
    ['a registered one and another', `${two} query Other { c }`],
    ['introspection', introspection],
  ])('%s is refused before it costs anything, and told its hash', async (_what, query) => {
    const answer = await sent({ query });
    expect([answer.status, answer.headers['x-points-cost']]).toEqual([400, '0']);
    expect(answer.json()).toMatchObject({
      errors: [{ extensions: { code: 'document_not_trusted', sha256: hash('sha256', query) } }],
    });
    const search = `?${new URLSearchParams({ query }).toString()}`;
    expect(codeOf(await trusting.query({ method: 'GET', token, search }))).toBe('document_not_trusted');
    expect(seen).toHaveLength(0);
  });

  test('a batch with one that is not registered is refused as a whole, also a long one', async () => {
    const long = `query Read { hello } #${'x'.repeat(40_000)}`;
    expect(codeOf(await sent([{ documentId: 'read' }, { query: introspection }]))).toBe(
      'document_not_trusted',
    );
    expect(codeOf(await sent([{ query: long }, { query: long }, { query: introspection }]))).toBe(
      'document_not_trusted',
    );
    expect(seen).toHaveLength(0);
    expect((await sent([{ query: long }, { query: long }])).status).toBe(200);
  });

  test('a registration of another text by its hash makes nothing trusted', async () => {
    const extensions = persisted(hash('sha256', introspection));
    expect(codeOf(await sent({ query: introspection, extensions }))).toBe('document_not_trusted');
    expect(codeOf(await sent({ extensions }))).toBe('document_not_trusted');
  });

  test('over WebSocket', async () => {
    const raw = await openReady(trusting.graphqlUrl.replace('http', 'ws'), token);
    const query = 'subscription Ticks { ticks(count: 1) }';
    raw.send({ id: '1', type: 'subscribe', payload: { query: query.replace('1', '2') } });
    expect((await raw.message({ type: 'error', id: '1' })).payload).toMatchObject([
      { extensions: { code: 'document_not_trusted' } },
    ]);
    raw.send({ id: '2', type: 'subscribe', payload: { query } });
    await raw.message({ type: 'complete', id: '2' });
    raw.socket.close();
  });

  test('refusals take from the rate of refused documents', async () => {
    await waitFor(async () => codeOf(await sent({ query: introspection })) === 'too_many_requests');
  });

  test.each([
    [{ APQ: 'pass', GRAPHQL_DOCUMENTS: 'a' }, ['APQ']],
    [{}, ['GRAPHQL_DOCUMENTS']],
    [{ GRAPHQL_READ: 'off', GRAPHQL_DOCUMENTS: 'a' }, ['GRAPHQL_READ']],
    [{ GRAPHQL_DOCUMENTS: 'a', UPSTREAM_V1_URL: 'http://v1.example.com/' }, ['GRAPHQL_V1_DOCUMENTS']],
  ])('the settings %j are refused', (settings, faulty) => {
    const { error } = schema.safeParse({ ...REQUIRED, GRAPHQL_TRUSTED_DOCUMENTS: 'all', ...settings });
    expect(error?.issues.map(({ path }) => path[0])).toEqual(faulty);
  });
});

test('nothing runs while no manifest could be read', () => {
  const { whyUntrusted } = storedDocuments(() => undefined, [() => null]);
  expect(whyUntrusted?.({ text: '{ a }' })?.code).toBe('service_unavailable');
});

test('with all guards off, an id that is unknown is forwarded', async () => {
  const names = ['DEPTH', 'ALIASES', 'ROOT_FIELDS', 'TOKENS', 'DIRECTIVES'];
  const env = Object.fromEntries(names.map((name) => [`GRAPHQL_MAX_${name}`, '0']));
  const open = await startGateway({ env });
  const forwarded = watchUpstream(open);
  expect((await open.query({ body: '{"documentId":"abc"}' })).status).toBe(200);
  expect(String(forwarded[0]?.body)).toBe('{"documentId":"abc"}');
  await open.stop();
});
