import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { begin, documentOf, sendRaw } from '../../test/suite/http-client.ts';
import { withCallRules } from '../../test/suite/stand-ins.ts';
import { bodyOf } from '../../test/suite/upstreams/server.ts';
import { watchUpstream } from '../../test/suite/upstreams/watch-upstream.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway({ env: { MAX_REQUEST_BODY_BYTES: '200000' } });
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

describe('request bodies arrive as they were sent', () => {
  test.each([2, 16_384, 16_385, 200_000])('%i bytes with Content-Length', async (bytes) => {
    const seen = watchUpstream(gateway);
    const body = documentOf(bytes);
    expect((await gateway.query({ body })).status).toBe(200);
    expect(seen[0]?.body.equals(body)).toBe(true);
    expect(seen[0]?.headers['content-length']).toBe(String(bytes));
  });

  test('chunks of unknown length', async () => {
    const seen = watchUpstream(gateway);
    const answer = await sendRaw(
      gateway.graphqlUrl,
      `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n3\r\n{  \r\n2\r\n }\r\n0\r\nX-Trailer: dropped\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen[0]?.body.toString()).toBe('{   }');
    expect(seen[0]?.rawHeaders.join()).not.toMatch(/trailer/i);
  });

  test('with Expect: 100-continue', async () => {
    const seen = watchUpstream(gateway);
    const answer = await sendRaw(
      gateway.graphqlUrl,
      `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
        'Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    expect(seen[0]?.headers).not.toHaveProperty('expect');
  });
});

describe('a request body over the limit is 413', () => {
  const tooLarge = { errors: [{ extensions: { code: 'payload_too_large' } }] };

  test('by its declared length: without asking the upstream', async () => {
    const seen = watchUpstream(gateway);
    const answer = await gateway.query({ body: Buffer.alloc(200_001) });
    expect(answer.status).toBe(413);
    expect(answer.json()).toMatchObject(tooLarge);
    expect(seen).toHaveLength(0);
  });

  test('in chunks: as soon as the limit is passed, and without asking the upstream', async () => {
    const seen = watchUpstream(gateway);
    const { request, answer } = begin(gateway.graphqlUrl, {
      headers: { authorization: `Bearer ${gateway.auth.issue()}`, 'transfer-encoding': 'chunked' },
      body: documentOf(1_000_000),
    });
    const response = await answer;
    expect(response.statusCode).toBe(413);
    expect(JSON.parse((await bodyOf(response)).toString())).toMatchObject(tooLarge);
    expect(seen).toEqual([]);
    request.destroy();
  });

  test('the connection can be used again when a moderate body has been read away', async () => {
    const head = `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.auth.issue()}\r\nContent-Type: application/json\r\n`;
    const answers = await sendRaw(
      gateway.graphqlUrl,
      Buffer.concat([
        Buffer.from(`${head}Content-Length: 300000\r\n\r\n`),
        Buffer.alloc(300_000, 'x'),
        Buffer.from(`${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`),
      ]),
    );
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });
});

describe('with GRAPHQL_READ=off', () => {
  let passing: GatewayUnderTest;

  beforeAll(async () => {
    passing = await startGateway({
      env: {
        GRAPHQL_READ: 'off',
        GRAPHQL_SCHEMA: '/nowhere',
        GRAPHQL_MAX_DEPTH: '1',
        MAX_REQUEST_BODY_BYTES: '200000',
      },
    });
    const rules = { points_per_call_limit: 0, strict_points: true, graphql_max_depth: 1 };
    passing.account.entitle(7_700, withCallRules(7_700, rules, { points_limit: 100 }));
  });
  afterAll(() => passing.stop());

  test.each([
    [
      'any media type and coding',
      gzipSync('{ a }'),
      { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
    ],
    ['a batch, with names in another case', Buffer.from('[{"QUERY":"{ a { b { c } } }"}]'), {}],
    ['what is no JSON', Buffer.from('{'), {}],
    ['a body that is longer than a head’s', documentOf(150_000), {}],
  ])('%s is forwarded as it came', async (_what, body, headers: Record<string, string>) => {
    const seen = watchUpstream(passing);
    const answer = await passing.query({ token: passing.auth.issue({ accountId: 7_700 }), body, headers });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('x-points-estimate');
    expect(seen[0]?.body.equals(body)).toBe(true);
    expect(seen[0]?.headers).toMatchObject({ ...headers, 'content-length': String(body.length) });
  });

  test('a body is passed on while it arrives', async () => {
    const arriving = new Promise<string>((resolve) => {
      passing.upstream((req, res) => {
        req.once('data', (chunk: Buffer) => {
          resolve(chunk.toString());
        });
        answerOk(req, res);
      });
    });
    const { socket, received } = connectRaw(passing.graphqlUrl);
    const head = `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${passing.auth.issue()}\r\n`;
    socket.write(`${head}Content-Length: 4\r\n\r\nab`);
    expect(await arriving).toBe('ab');
    socket.write('cd');
    await waitFor(() => received().startsWith('HTTP/1.1 200 '));
    socket.destroy();
  });

  test('in chunks, one that passes the limit is cut off', async () => {
    passing.upstream(answerOk);
    const answer = await passing.query({
      headers: { 'transfer-encoding': 'chunked' },
      body: documentOf(1_000_000),
    });
    expect(answer.status).toBe(413);
  });

  test('nothing is estimated, and a metric says so', async () => {
    const estimate = await passing.query({ headers: { 'x-points-estimate': 'only' } });
    expect(estimate.status).toBe(404);
    expect(await passing.metric('tollgate_graphql_read')).toBe(0);
    expect(await gateway.metric('tollgate_graphql_read')).toBe(1);
  });
});
