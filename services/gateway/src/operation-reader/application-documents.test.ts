import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import type { TrustedDocuments } from '@tollgate/contracts/trusted-documents';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import type { Answer } from '../../test/suite/http-client.ts';
import { openReady } from '../../test/suite/raw-socket.ts';
import { publishEntitlementEvent } from '../../test/suite/stand-ins.ts';
import { startGraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import { watchUpstream } from '../../test/suite/upstreams/watch-upstream.ts';
import type { UpstreamSeen } from '../../test/suite/upstreams/watch-upstream.ts';
import { createApplicationDocuments } from './application-documents.ts';

const READ = 'query Read { hello }';
const TICKS = 'subscription Ticks { ticks(count: 1) }';
const OTHER = 'query Read { hello secrets }';

let sockets: GraphqlUpstream;
let gateway: GatewayUnderTest;
let seen: UpstreamSeen[];
let nextId = 9_500;
let accountId: number;
let applicationId: number;
let token: string;

beforeAll(async () => {
  sockets = await startGraphqlUpstream();
  gateway = await startGateway({ env: { UPSTREAM_WS_URL: sockets.url, ESTIMATES_PER_MINUTE: '1000' } });
});

beforeEach(() => {
  seen = watchUpstream(gateway);
  accountId = nextId += 1;
  applicationId = accountId + 10_000;
  token = gateway.auth.issue({ accountId, applicationId });
  limit(1, { read: READ, ticks: TICKS });
});

afterAll(async () => {
  await gateway.stop();
  await sockets.close();
});

function limit(revision: number, texts: Readonly<Record<string, string>>): void {
  gateway.account.register(applicationId, revision, texts);
  const limited = { application_id: applicationId, documents_revision: revision };
  gateway.account.entitle(accountId, { limited_applications: [limited] });
}

const sent = (body: unknown, by = token) => gateway.query({ token: by, body: JSON.stringify(body) });

function codeOf(answer: Answer): unknown {
  const { errors } = answer.json() as { errors?: { extensions: { code: string } }[] };
  return errors?.[0]?.extensions.code;
}

const asked = () =>
  gateway.account.requests.filter((path) => path === `/private/trusted-documents/${String(applicationId)}`);

describe('an application that is limited to its documents', () => {
  test.each([
    ['as text', { query: READ }],
    ['with other blanks', { query: 'query Read {\n  hello\n}' }],
    ['by its id', { documentId: 'read' }],
    ['by its SHA-256', { documentId: hash('sha256', READ) }],
    [
      'by the hash of a persisted query',
      { extensions: { persistedQuery: { sha256Hash: hash('sha256', READ) } } },
    ],
  ])('runs one that is sent %s', async (_how, body) => {
    expect((await sent(body)).status).toBe(200);
    expect(JSON.parse(String(seen[0]?.body))).toMatchObject({ query: expect.stringContaining('hello') });
  });

  test('runs no other one: by POST, GET, in a batch or over WebSocket', async () => {
    const answer = await sent({ query: OTHER });
    expect([answer.status, codeOf(answer), answer.headers['x-points-cost']]).toEqual([
      400,
      'document_not_trusted',
      '0',
    ]);
    const search = `?${new URLSearchParams({ query: OTHER }).toString()}`;
    expect(codeOf(await gateway.query({ method: 'GET', token, search }))).toBe('document_not_trusted');
    expect(codeOf(await sent([{ query: READ }, { query: OTHER }]))).toBe('document_not_trusted');
    expect(codeOf(await sent({ documentId: 'unknown' }))).toBe('document_unknown');
    expect(seen).toHaveLength(0);

    const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), token);
    raw.send({ id: '1', type: 'subscribe', payload: { query: TICKS.replace('1', '2') } });
    expect((await raw.message({ type: 'error', id: '1' })).payload).toMatchObject([
      { extensions: { code: 'document_not_trusted' } },
    ]);
    raw.send({ id: '2', type: 'subscribe', payload: { query: TICKS } });
    await raw.message({ type: 'complete', id: '2' });
    raw.socket.close();
  });

  test('does not limit the account’s other applications, and its documents are asked for once', async () => {
    const other = gateway.auth.issue({ accountId, applicationId: applicationId + 1 });
    expect((await sent({ query: OTHER }, other)).status).toBe(200);
    expect(asked()).toHaveLength(0);
    const answers = await Promise.all([1, 2, 3].map(() => sent({ query: READ })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(asked()).toHaveLength(1);
  });

  test('gets changed documents, and the end of the limit, with the event of its entitlement', async () => {
    expect((await sent({ query: READ })).status).toBe(200);
    limit(2, { other: OTHER });
    await publishEntitlementEvent(gateway.redis.url, JSON.stringify({ account_id: accountId }));
    await waitFor(async () => (await sent({ query: OTHER })).status === 200);
    expect(codeOf(await sent({ query: READ }))).toBe('document_not_trusted');
    gateway.account.entitle(accountId, {});
    await publishEntitlementEvent(gateway.redis.url, JSON.stringify({ account_id: accountId }));
    await waitFor(async () => (await sent({ query: READ })).status === 200);
  });

  test('on an open socket, too', async () => {
    const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), token);
    limit(2, { ticks: TICKS.replace('1', '2') });
    await publishEntitlementEvent(gateway.redis.url, JSON.stringify({ account_id: accountId }));
    let id = 0;
    await waitFor(async () => {
      id += 1;
      raw.send({ id: String(id), type: 'subscribe', payload: { query: TICKS } });
      return (await raw.message({ id: String(id) })).type === 'error';
    });
    raw.socket.close();
  });

  test('runs nothing while its documents are not known', async () => {
    limit(5, { read: READ });
    gateway.account.register(applicationId, 4, { read: READ });
    const answer = await sent({ query: READ });
    expect([answer.status, codeOf(answer)]).toEqual([503, 'service_unavailable']);
    expect(seen).toHaveLength(0);
    gateway.account.register(applicationId, 5, { read: READ });
    expect((await sent({ query: READ })).status).toBe(200);
  });
});

describe('the documents of applications in memory', () => {
  const documents = (text: string): TrustedDocuments => ({
    revision: 3,
    documents: [{ api_version: 'v2', sha256: hash('sha256', text), document_id: null, text }],
  });

  function kept(maxLength: number) {
    let askedFor = 0;
    const known = createApplicationDocuments({
      account: {
        get: (_path, schema) => {
          askedFor += 1;
          return Promise.resolve(schema.parse(documents('x'.repeat(5_000))));
        },
      },
      documentsOf: ({ trusted }) => ({
        withTexts: (request) => ({ request, found: null, textBytes: 0, namesDocument: false }),
        whyUntrusted: ({ text }) => (trusted.has(text ?? '') ? null : (undefined as never)),
      }),
      maxLength,
    });
    return { ...known, asked: () => askedFor };
  }

  test('are bounded: those used longest ago are asked for again', async () => {
    const { load, of, asked: times } = kept(160_000);
    for (const id of [1, 2, 3]) await load({ applicationId: id, revision: 3 }, 'r');
    expect(load({ applicationId: 3, revision: 3 }, 'r')).toBeNull();
    expect(() => of({ applicationId: 1, revision: 3 }, 'v2')).toThrow(
      expect.objectContaining({ code: 'service_unavailable' }),
    );
    await waitFor(() => load({ applicationId: 1, revision: 3 }, 'r') === null);
    expect(times()).toBe(4);
  });

  test('serve an entitlement that is a change behind', async () => {
    const { load, of, asked: times } = kept(160_000);
    await load({ applicationId: 1, revision: 2 }, 'r');
    expect(load({ applicationId: 1, revision: 3 }, 'r')).toBeNull();
    expect(of({ applicationId: 1, revision: 2 }, 'v1')).toBeDefined();
    expect(times()).toBe(1);
  });
});
