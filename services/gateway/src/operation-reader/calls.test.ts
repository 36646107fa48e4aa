import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Limits } from '@tollgate/contracts/entitlement';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { begin, sendRaw } from '../../test/suite/http-client.ts';
import type { Answer } from '../../test/suite/http-client.ts';
import { withLimits } from '../../test/suite/stand-ins.ts';
import { watchUpstream } from '../../test/suite/upstreams/watch-upstream.ts';

const DEFAULT_POINTS = 3;
const MAX_BYTES = 200_000;
/** What an unfinished body counts for at least; so a payer may have 30, in a quarter of the room. */
const BODY_MIN_BYTES = 16_384;

let gateway: GatewayUnderTest;
let nextAccount = 7_000;

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      DEFAULT_POINTS: String(DEFAULT_POINTS),
      SUBSCRIPTION_POINTS_PER_MINUTE: '5',
      MAX_REQUEST_BODY_BYTES: String(MAX_BYTES),
      GRAPHQL_BODIES_MAX_BYTES: String(4 * 30 * BODY_MIN_BYTES),
    },
  });
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

function caller(limits: Partial<Limits> = {}) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withLimits(accountId, limits));
  return { accountId, token: gateway.auth.issue({ accountId }) };
}

function codeOf(answer: Answer): string | undefined {
  return (answer.json() as { errors?: { extensions: { code: string } }[] }).errors?.[0]?.extensions.code;
}

const QUERY = '{"query":"{ a }"}';
const MUTATION = '{"query":"mutation { a }"}';
const SUBSCRIPTION = '{"query":"subscription { a }"}';
const AMBIGUOUS = '{"query":"query A { a } subscription B { a }"}';
const batchOf = (count: number, one = QUERY) => `[${Array.from({ length: count }, () => one).join()}]`;

/** What a call costs that the upstream answers so, without a price. */
async function costOf(
  body: string,
  type: string,
  answer: string | Buffer,
  headers: Record<string, string> = {},
) {
  const { accountId, token } = caller();
  gateway.upstream((_req, res) => {
    res.writeHead(200, { 'content-type': type, ...headers });
    // No length, as streams have it.
    res.write(answer);
    res.end();
  });
  const { status } = await gateway.query({ token, body });
  expect(status).toBe(200);
  const events = await gateway.usage(1, accountId);
  const sum = (field: 'points' | 'requests' | 'time_ms') =>
    events.reduce((total, event) => total + event[field], 0);
  return { points: sum('points'), requests: sum('requests'), isTimed: sum('time_ms') > 0 };
}

const EVENTS =
  'event: next\ndata: {"data":1}\n\n:ping\n\nevent: next\ndata: {"data":2}\n\nevent: complete\ndata:\n\n';
const PART = 'content-type: application/json\r\n\r\n{"hasNext":true}\r\n';
const PARTS = `\r\n---\r\n${PART}---\r\n${PART}-----\r\n`;

describe('the operation decides on the price, not the form of the answer', () => {
  test.each([
    ['a query, events', QUERY, 'text/event-stream', EVENTS, 2 * DEFAULT_POINTS],
    ['a mutation, events', MUTATION, 'text/event-stream', EVENTS, 2 * DEFAULT_POINTS],
    ['a query, no event at all', QUERY, 'text/event-stream', ':\n\n', DEFAULT_POINTS],
    ['a query, parts', QUERY, 'multipart/mixed; boundary="-"', PARTS, 2 * DEFAULT_POINTS],
    [
      'a query, parts of a subscription',
      QUERY,
      'multipart/mixed; boundary="-"; subscriptionSpec=1.0',
      PARTS,
      6,
    ],
    ['a batch, one document', batchOf(4), 'application/json', '[]', 4 * DEFAULT_POINTS, 4],
    ['a batch, events', batchOf(4), 'text/event-stream', EVENTS, 4 * DEFAULT_POINTS, 4],
  ])('%s', async (_name, body, type, answer, points, requests = 1) => {
    expect(await costOf(body, type, answer)).toMatchObject({ points, requests, isTimed: false });
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ] as const)('a query, events in %s', async (coding, compress) => {
    const answer = compress(Buffer.from(EVENTS));
    const { points } = await costOf(QUERY, 'text/event-stream', answer, { 'content-encoding': coding });
    expect(points).toBe(2 * DEFAULT_POINTS);
  });

  test.each([
    ['events', 'text/event-stream', EVENTS],
    ['parts', 'multipart/mixed; boundary="-"', PARTS],
    ['lines', 'application/jsonl', '{}\n'],
  ])('a subscription, %s: by the minute', async (_name, type, answer) => {
    expect(await costOf(SUBSCRIPTION, type, answer)).toMatchObject({ points: 5, requests: 1 });
  });

  test('an operation of unknown type: each result, and by the minute', async () => {
    expect(await costOf(AMBIGUOUS, 'text/event-stream', EVENTS)).toMatchObject({
      points: 2 * DEFAULT_POINTS + 5,
      requests: 1,
    });
  });

  test('a price that is stated is the price, however many results there are', async () => {
    const { points } = await costOf(QUERY, 'text/event-stream', EVENTS, { 'x-points': '7' });
    expect(points).toBe(7);
  });
});

describe('the operation decides on the kind of slot, not Accept', () => {
  test.each([
    [QUERY, 'session_limit_exceeded'],
    [MUTATION, 'session_limit_exceeded'],
    [AMBIGUOUS, 'session_limit_exceeded'],
    [batchOf(2), 'session_limit_exceeded'],
    [SUBSCRIPTION, 'subscription_limit_exceeded'],
  ])('%s', async (body, code) => {
    const { token } = caller({ session_limit: 0, subscription_limit: 0 });
    for (const accept of ['text/event-stream', 'application/json', 'multipart/mixed;subscriptionSpec=1.0']) {
      expect(codeOf(await gateway.query({ token, body, headers: { accept } }))).toBe(code);
    }
  });
});

describe('a batch', () => {
  test('of the limit passes as it was sent; one more is refused', async () => {
    const seen = watchUpstream(gateway);
    expect((await gateway.query({ body: batchOf(10) })).status).toBe(200);
    const answer = await gateway.query({ body: batchOf(11) });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'batch_too_large']);
    expect(seen.map(({ body }) => body.toString())).toEqual([batchOf(10)]);
  });

  test.each(['[]', `[[${QUERY}]]`, `[${QUERY},null]`, `[${QUERY},${SUBSCRIPTION}]`])(
    '%s is 400',
    async (body) => {
      const seen = watchUpstream(gateway);
      const answer = await gateway.query({ body });
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
      expect(seen).toEqual([]);
    },
  );

  test('counts its operations for the rate, all or none', async () => {
    const { token } = caller({ rate_limit: 8 });
    const refused = await gateway.query({ token, body: batchOf(9) });
    // Waiting would never help.
    expect([refused.status, codeOf(refused)]).toEqual([400, 'batch_too_large']);
    expect(refused.json()).toMatchObject({ errors: [{ extensions: { limit: 8 } }] });
    expect(refused.headers).not.toHaveProperty('retry-after');
    const first = await gateway.query({ token, body: batchOf(5) });
    expect([first.status, first.headers['ratelimit']]).toEqual([200, '"rate";r=3;t=38']);
    const second = await gateway.query({ token, body: batchOf(5) });
    expect([second.status, second.headers['retry-after']]).toEqual([429, '15']);
    expect((await gateway.query({ token, body: batchOf(3) })).status).toBe(200);
    expect((await gateway.query({ token })).status).toBe(429);
  });
});

describe('a body that is no JSON in UTF-8 is refused, and the upstream does not see it', () => {
  test.each([
    ['another type', 'text/plain', QUERY, 415],
    ['GraphQL', 'application/graphql', '{ a }', 415],
    ['a form', 'application/x-www-form-urlencoded', 'query={a}', 415],
    ['an upload', 'multipart/form-data; boundary=a', '--a--', 415],
    ['another charset', 'application/json; charset=utf-16', QUERY, 415],
    ['another charset behind a blank', 'application/json; charset =utf-16', QUERY, 415],
    ['an extended charset', "application/json; charset*=utf-8''utf-16", QUERY, 415],
    ['no JSON', 'application/json', '{ a }', 400],
    ['JSON behind a byte order mark', 'application/json', `\uFEFF${QUERY}`, 400],
    ['nothing', 'application/json', '', 400],
    ['a text', 'application/json', '"{ a }"', 400],
    ['bytes that are no UTF-8', 'application/json', Buffer.from('{"query":"{ a }","\xff":1}', 'latin1'), 400],
  ])('%s', async (_name, type, body, status) => {
    const seen = watchUpstream(gateway);
    const answer = await gateway.query({ body, headers: { 'content-type': type } });
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.headers['accept']).toBe('application/json');
    expect(seen).toEqual([]);
  });

  test('no type, or two', async () => {
    const seen = watchUpstream(gateway);
    for (const types of ['', 'Content-Type: application/json\r\nContent-Type: application/graphql\r\n']) {
      const answer = await sendRaw(
        gateway.graphqlUrl,
        `POST /graphql HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${types}` +
          `Authorization: Bearer ${gateway.auth.issue()}\r\nContent-Length: 2\r\n\r\n{}`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 415 /);
    }
    expect(seen).toEqual([]);
  });

  test.each([
    'application/json; charset=UTF-8',
    'Application/JSON;charset="utf-8"',
    'application/graphql+json',
  ])('%s passes', async (type) => {
    expect((await gateway.query({ body: QUERY, headers: { 'content-type': type } })).status).toBe(200);
  });
});

describe('a body in a content coding', () => {
  const codings = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const;

  test.each(codings)('%s is read, and passed on without it', async (coding, compress) => {
    const { accountId, token } = caller();
    const seen = watchUpstream(gateway);
    const headers = { 'content-encoding': coding };
    const answer = await gateway.query({ token, headers, body: compress(Buffer.from(batchOf(3))) });
    expect(answer.status).toBe(200);
    expect(seen.map(({ body }) => body.toString())).toEqual([batchOf(3)]);
    expect(seen[0]?.headers).not.toHaveProperty('content-encoding');
    expect(seen[0]?.headers['content-length']).toBe(String(batchOf(3).length));
    expect(await gateway.usage(1, accountId)).toMatchObject([{ points: 3 * DEFAULT_POINTS }]);
  });

  test.each(codings)('a bomb in %s is 413', async (coding, compress) => {
    const body = compress(Buffer.concat([Buffer.from(QUERY), Buffer.alloc(50_000_000, ' ')]));
    expect(body.length).toBeLessThan(MAX_BYTES);
    const answer = await gateway.query({ headers: { 'content-encoding': coding }, body });
    expect([answer.status, codeOf(answer)]).toEqual([413, 'payload_too_large']);
  });

  test.each(['compress', 'gzip, gzip', 'exi'])('%s is 415', async (coding) => {
    const answer = await gateway.query({ headers: { 'content-encoding': coding }, body: QUERY });
    expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'gzip, deflate, br, zstd']);
  });

  test.each(codings)('%s with bytes behind its end is 400', async (coding, compress) => {
    const body = Buffer.concat([compress(Buffer.from(QUERY)), Buffer.from('more')]);
    const seen = watchUpstream(gateway);
    const answer = await gateway.query({ headers: { 'content-encoding': coding }, body });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    expect(seen).toEqual([]);
  });

  test('that it is not in is 400', async () => {
    expect((await gateway.query({ headers: { 'content-encoding': 'gzip' }, body: QUERY })).status).toBe(400);
  });
});

describe('a GET can only run a query', () => {
  const get = (parameters: Record<string, string>) =>
    gateway.query({ method: 'GET', search: `?${new URLSearchParams(parameters).toString()}` });
  const SEVERAL = 'query A { a } mutation B { b }';

  test.each<[Record<string, string>, number]>([
    [{ query: '{ a }' }, 200],
    [{ query: SEVERAL, operationName: 'A' }, 200],
    [{ documentId: 'abc' }, 400],
    [{ query: 'mutation { a }' }, 405],
    [{ query: 'subscription { a }' }, 405],
    [{ query: SEVERAL, operationName: 'B' }, 405],
    [{ query: SEVERAL }, 405],
    [{ query: '{ a }', id: 'abc' }, 400],
    [{ query: '{ a }', documentId: 'abc' }, 400],
    [{ query: '{ a }', Query: 'mutation { a }' }, 400],
  ])('%j: %i', async (parameters, status) => {
    const seen = watchUpstream(gateway);
    const answer = await get(parameters);
    expect(answer.status).toBe(status);
    expect(seen).toHaveLength(status === 200 ? 1 : 0);
    if (status === 405) expect(answer.headers.allow).toBe('POST');
  });

  test.each([
    '?query=%7Ba%7D&%71uery=mutation%7Ba%7D',
    '?query=%7Ba%7D&variables=%7B%22a%22:1%7D&variables[a]=1000',
    '?query=%7Ba%7D&variables=%7B%22a%22:1,%22a%22:1000%7D',
  ])('%s, which is read in two ways, is 400', async (search) => {
    const seen = watchUpstream(gateway);
    expect((await gateway.query({ method: 'GET', search })).status).toBe(400);
    expect(seen).toEqual([]);
  });
});

describe('a name that servers could read differently is 400', () => {
  test.each([
    ['repeated', '{"query":"subscription { a }","query":"{ a }"}'],
    ['escaped', '{"\\u0071uery":"{ a }"}'],
    ['in another case', '{"query":"subscription { a }","Query":"{ a }"}'],
    ['in another case that Unicode folds', '{"query":"{ a }","exten\u017fion\u017f":{}}'],
    ['in a batch', `[${QUERY},{"query":"{ a }","OPERATIONNAME":"A"}]`],
    ['repeated in the variables', '{"query":"{ a }","variables":{"page":{"first":1,"first":1000}}}'],
    ['a stored document in another case', '{"query":"subscription { a }","DocumentId":"abc"}'],
  ])('%s', async (_name, body) => {
    const seen = watchUpstream(gateway);
    const answer = await gateway.query({ body });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    expect(seen).toEqual([]);
  });
});

test('a document of the limit passes, and a longer one is 413 before it is parsed', async () => {
  const of = (bytes: number) => {
    const query = '{ a } #';
    return JSON.stringify({ query: query + ' '.repeat(bytes - query.length) });
  };
  expect((await gateway.query({ body: of(65_536) })).status).toBe(200);
  const answer = await gateway.query({ body: of(65_537) });
  expect([answer.status, codeOf(answer)]).toEqual([413, 'document_too_large']);
});

test('unfinished bodies take memory: a payer gets a part of it, and others still get theirs', async () => {
  const [one, other] = [caller(), caller()];
  const open = Array.from({ length: 30 }, () =>
    begin(gateway.graphqlUrl, {
      headers: { authorization: `Bearer ${one.token}`, 'content-length': 100 },
      body: QUERY,
    }),
  );
  for (const { request, answer } of open) {
    request.on('error', () => undefined);
    answer.catch(() => undefined);
  }
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === open.length);
  const refused = await gateway.query({ token: one.token });
  expect([refused.status, codeOf(refused), refused.headers['retry-after']]).toEqual([
    429,
    'too_many_requests',
    '1',
  ]);
  expect((await gateway.query({ token: other.token })).status).toBe(200);
  open[0]?.request.destroy();
  await waitFor(async () => (await gateway.query({ token: one.token })).status === 200);
  for (const { request } of open) request.destroy();
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 0);
});
