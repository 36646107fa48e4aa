import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createClient, RateLimitError, TollgateError } from '../src/index.ts';
import type { ClientOptions } from '../src/index.ts';
import { answer, issue, refuse, sendJson, startBadServer } from './suite/bad-server.ts';
import type { BadServer } from './suite/bad-server.ts';

const SECRET = 'the-client-secret';
const QUERY = '{ ok }';

let server: BadServer;
const others: BadServer[] = [];

afterEach(async () => {
  await Promise.all([server, ...others.splice(0)].map((each) => each.stop()));
});

async function clientOf(
  behaviour: Parameters<typeof startBadServer>[0],
  options: Partial<ClientOptions> = {},
): Promise<ReturnType<typeof createClient>> {
  server = await startBadServer(behaviour);
  return createClient({
    url: server.url,
    clientId: 'id',
    clientSecret: SECRET,
    timeoutMs: 30_000,
    ...options,
  });
}

async function failureOf(work: Promise<unknown>): Promise<TollgateError> {
  const failure = await work.then(
    () => 'nothing failed',
    (error: unknown) => error,
  );
  if (!(failure instanceof TollgateError)) throw new Error(`not ours: ${String(failure)}`);
  return failure;
}

describe('tokens', () => {
  test('a hundred callers at once share one token request', async () => {
    const client = await clientOf({
      token: (res, nth, seen) => setTimeout(() => issue(res, nth, seen), 50),
    });
    await Promise.all(Array.from({ length: 100 }, () => client.request(QUERY)));
    expect(server.tokenRequests()).toBe(1);
    expect(new Set(server.seen.map(({ headers }) => headers.authorization))).toEqual(
      new Set([undefined, 'Bearer t1']),
    );
  });

  test('a failed request reaches all that wait, and the next caller tries again', async () => {
    const client = await clientOf({
      token: (res, nth, seen) => {
        if (nth === 1) sendJson(res, 500, { error: 'server_error' });
        else issue(res, nth, seen);
      },
    });
    const failures = await Promise.all([1, 2, 3].map(() => failureOf(client.request(QUERY))));
    expect(failures.map(({ code }) => code)).toEqual(['server_error', 'server_error', 'server_error']);
    expect(server.tokenRequests()).toBe(1);
    expect((await client.request(QUERY)).data).toEqual({ ok: true });
  });

  test('invalid_client is final: nothing is sent again within a minute', async () => {
    const client = await clientOf({
      token: (res) => {
        sendJson(res, 401, { error: 'invalid_client' });
      },
    });
    for (let call = 0; call < 3; call += 1) {
      expect(await failureOf(client.request(QUERY))).toMatchObject({
        code: 'invalid_client',
        name: 'AuthenticationError',
      });
    }
    expect(server.tokenRequests()).toBe(1);
  });

  test('a caller that gives up doesn’t stop the request of the others', async () => {
    const client = await clientOf({
      token: (res, nth, seen) => setTimeout(() => issue(res, nth, seen), 100),
    });
    const controller = new AbortController();
    const given = client.request(QUERY, {}, { signal: controller.signal }).catch((error: unknown) => error);
    const kept = client.request(QUERY);
    controller.abort();
    expect(await given).toBe(controller.signal.reason);
    expect((await kept).data).toEqual({ ok: true });
    expect(server.tokenRequests()).toBe(1);
  });

  test('after a 401, concurrent calls share one new token; a second 401 is an error', async () => {
    const client = await clientOf({
      call: (res, nth, seen) => {
        if (seen.headers.authorization === 'Bearer t1') refuse(res, 401, 'unauthorized');
        else answer(res, nth, seen);
      },
    });
    await Promise.all(Array.from({ length: 20 }, () => client.request(QUERY)));
    expect(server.tokenRequests()).toBe(2);
    expect(server.calls()).toBe(40);
  });

  test('a server that always says 401 gets two calls, not a loop', async () => {
    const client = await clientOf({
      call: (res) => {
        refuse(res, 401, 'unauthorized');
      },
    });
    expect(await failureOf(client.request(QUERY))).toMatchObject({
      code: 'unauthorized',
      name: 'AuthenticationError',
      status: 401,
      requestId: 'r1',
    });
    expect([server.calls(), server.tokenRequests()]).toEqual([2, 2]);
  });

  test('a 401 of the data API says nothing about the token', async () => {
    const client = await clientOf({
      call: (res) => {
        sendJson(res, 401, {}, { 'proxy-status': 'tollgate; received-status=401' });
      },
    });
    expect(await failureOf(client.request(QUERY))).toMatchObject({ code: 'upstream_error', status: 401 });
    expect([server.calls(), server.tokenRequests()]).toEqual([1, 1]);
  });

  test.each([
    ['not JSON', (res: Parameters<typeof issue>[0]) => res.end('<html>')],
    [
      'no token',
      (res: Parameters<typeof issue>[0]) => {
        sendJson(res, 200, {});
      },
    ],
    [
      'a token that could be a header',
      (res: Parameters<typeof issue>[0]) => {
        sendJson(res, 200, { access_token: 'secret\r\nX-Evil: 1' });
      },
    ],
  ])('a token response with %s is an error', async (_, token) => {
    const client = await clientOf({ token });
    const failure = await failureOf(client.request(QUERY));
    expect(failure.code).toBe('invalid_response');
    expect(inspect(failure)).not.toContain('X-Evil');
  });

  test('a fixed token that is refused is not sent twice', async () => {
    const client = await clientOf(
      {
        call: (res) => {
          refuse(res, 401, 'unauthorized');
        },
      },
      { clientId: undefined, clientSecret: undefined, token: 'manual' },
    );
    expect((await failureOf(client.request(QUERY))).code).toBe('unauthorized');
    expect(server.calls()).toBe(1);
  });
});

describe('Retry-After', () => {
  test.each([
    ['seconds', { 'retry-after': '0' }],
    [
      'a date, against the clock of the server',
      { 'retry-after': 'Tue, 06 Nov 1990 08:49:37 GMT', date: 'Tue, 06 Nov 1990 08:49:37 GMT' },
    ],
  ])('as %s is waited for', async (_, headers: Record<string, string>) => {
    const client = await clientOf({
      call: (res, nth, seen) => {
        if (nth === 1) refuse(res, 429, 'rate_limit_exceeded', headers);
        else answer(res, nth, seen);
      },
    });
    expect((await client.request('mutation { ok }')).data).toEqual({ ok: true });
    expect(server.calls()).toBe(2);
  });

  test.each([
    ['longer than maxWaitMs', { 'retry-after': '31' }, 31_000],
    ['huge', { 'retry-after': '99999999999999999999' }, 1e23],
    ['negative', { 'retry-after': '-1' }, undefined],
    ['no number', { 'retry-after': 'NaN' }, undefined],
    [
      'a date in an hour',
      { 'retry-after': 'Tue, 06 Nov 1990 09:49:37 GMT', date: 'Tue, 06 Nov 1990 08:49:37 GMT' },
      3_600_000,
    ],
    ['absent', {}, undefined],
  ])(
    'that is %s is an error at once, which tells the wait',
    async (_, headers: Record<string, string>, wait) => {
      const client = await clientOf({
        call: (res) => {
          refuse(res, 429, 'rate_limit_exceeded', headers);
        },
      });
      const failure = await failureOf(client.request(QUERY));
      expect(failure).toBeInstanceOf(RateLimitError);
      expect(failure).toMatchObject({
        code: 'rate_limit_exceeded',
        limit: 10,
        remaining: 0,
        retryAfterMs: wait,
      });
      expect(server.calls()).toBe(1);
    },
  );

  test('three attempts at most', async () => {
    const client = await clientOf({
      call: (res) => {
        refuse(res, 429, 'rate_limit_exceeded', { 'retry-after': '0' });
      },
    });
    await failureOf(client.request(QUERY));
    expect(server.calls()).toBe(3);
  });

  test('three attempts at most for a token, too, whatever the call may repeat', async () => {
    const client = await clientOf({
      token: (res) => {
        sendJson(res, 503, { error: 'temporarily_unavailable' }, { 'retry-after': '0' });
      },
    });
    expect(await failureOf(client.request(QUERY))).toMatchObject({ code: 'temporarily_unavailable' });
    expect(server.tokenRequests()).toBe(3);
  });

  test('the wait can be aborted', async () => {
    const client = await clientOf({
      call: (res) => {
        refuse(res, 503, 'service_unavailable', { 'retry-after': '20' });
      },
    });
    const signal = AbortSignal.timeout(200);
    await expect(client.request(QUERY, {}, { signal })).rejects.toHaveProperty('name', 'TimeoutError');
  });

  test('a mutation that met an outage may have been applied, and is sent once', async () => {
    const client = await clientOf({
      call: (res) => {
        refuse(res, 503, 'service_unavailable', { 'retry-after': '0' });
      },
    });
    await failureOf(client.request('mutation { ok }'));
    expect(server.calls()).toBe(1);
    await failureOf(client.request('mutation { ok }', {}, { idempotent: true }));
    expect(server.calls()).toBe(4);
  });
});

describe('connections', () => {
  const drop = (res: Parameters<typeof issue>[0]) => res.socket?.destroy();

  test('a query without a response is sent once more', async () => {
    const client = await clientOf({
      call: (res, nth, seen) => (nth === 1 ? drop(res) : answer(res, nth, seen)),
    });
    expect((await client.request(QUERY)).data).toEqual({ ok: true });
  });

  test.each([
    ['a query, only once', QUERY, 2],
    ['a mutation, never', 'mutation { ok }', 1],
    ['several operations, never', 'query A { ok } query B { ok }', 1],
  ])('that break off: %s', async (_, query, calls) => {
    const client = await clientOf({ call: drop });
    expect(await failureOf(client.request(query))).toMatchObject({
      code: 'connection_failed',
      name: 'UnansweredError',
    });
    expect(server.calls()).toBe(calls);
  });

  test('a response that is cut is an error, and nothing is repeated', async () => {
    const client = await clientOf({
      call: (res) => {
        res.writeHead(200, { 'content-length': '1000' }).write('{"data":{', () => res.socket?.destroy());
      },
    });
    expect((await failureOf(client.request(QUERY))).code).toBe('connection_failed');
    expect(server.calls()).toBe(1);
  });

  test('a slow server is an error after timeoutMs', async () => {
    const client = await clientOf({ call: (res) => res.writeHead(200).write('{') }, { timeoutMs: 100 });
    expect((await failureOf(client.request(QUERY))).code).toBe('timeout');
  });

  test('a redirect is not followed, with neither the token nor the secret', async () => {
    const thief = await startBadServer({});
    others.push(thief);
    const redirect = (res: Parameters<typeof issue>[0]) =>
      res.writeHead(307, { location: `${thief.url}/oauth2/token` }).end();
    let client = await clientOf({ call: redirect });
    expect((await failureOf(client.request(QUERY))).code).toBe('redirected');
    await server.stop();
    client = await clientOf({ token: redirect });
    expect((await failureOf(client.request(QUERY))).code).toBe('redirected');
    expect(thief.seen).toEqual([]);
  });
});

describe('bodies', () => {
  test.each([
    ['HTML with status 200', (res: Parameters<typeof issue>[0]) => res.end('<html>'), 'invalid_response'],
    ['JSON that is cut', (res: Parameters<typeof issue>[0]) => res.end('{"data":'), 'invalid_response'],
    ['JSON that is no result', (res: Parameters<typeof issue>[0]) => res.end('[]'), 'invalid_response'],
    ['10 MB', (res: Parameters<typeof issue>[0]) => res.end(`"${'x'.repeat(1e7)}"`), 'response_too_large'],
    [
      'a gzip bomb',
      (res: Parameters<typeof issue>[0]) =>
        res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(5e7, 32))),
      'response_too_large',
    ],
    [
      'an HTML error page',
      (res: Parameters<typeof issue>[0]) => res.writeHead(502).end('<html>'),
      'http_502',
    ],
    [
      'an unknown code',
      (res: Parameters<typeof issue>[0]) => {
        refuse(res, 418, 'new_code');
      },
      'new_code',
    ],
    [
      'errors of an unexpected form',
      (res: Parameters<typeof issue>[0]) => {
        sendJson(res, 400, { errors: [null, 7] });
      },
      'http_400',
    ],
  ])('%s', async (_, call, code) => {
    const client = await clientOf({ call });
    expect((await failureOf(client.request(QUERY))).code).toBe(code);
  });

  test('errors of a result have its data and its price', async () => {
    const errors = [{ message: 'No such country', path: ['ok'] }];
    const client = await clientOf({
      call: (res) => {
        sendJson(res, 200, { data: { ok: null }, errors }, { 'x-points-cost': '3' });
      },
    });
    expect(await failureOf(client.request(QUERY))).toMatchObject({
      code: 'data_api_error',
      errors,
      data: { ok: null },
      cost: 3,
    });
  });
});

test('neither secret nor token is in the client, an error or a URL', async () => {
  const client = await clientOf({
    call: (res) => {
      refuse(res, 401, 'unauthorized');
    },
  });
  const failure = await failureOf(client.request(QUERY));
  const shown = [
    inspect(client, { depth: 9, showHidden: true }),
    inspect(failure, { depth: 9 }),
    String(failure.stack),
    JSON.stringify(failure),
  ];
  expect(shown.join()).not.toMatch(/the-client-secret|\bt[12]\b/);
  expect(server.seen.map(({ path }) => path).join()).not.toContain(SECRET);
});

test.each([
  ['no credential', { clientId: 'id' }],
  ['two credentials', { clientId: 'id', clientSecret: SECRET, token: 't' }],
  ['a URL with a password', { url: 'https://user:pass@example.com', token: 't' }],
  ['a URL that is none', { url: 'example.com', token: 't' }],
])('%s is refused when the client is made', async (_, options) => {
  server = await startBadServer({});
  expect(() => createClient({ url: server.url, ...options })).toThrow(TypeError);
});

test('a secret in a browser is refused; a function that asks for a token is not', async () => {
  server = await startBadServer({});
  Object.assign(globalThis, { document: {} });
  try {
    expect(() => createClient({ url: server.url, clientId: 'id', clientSecret: SECRET })).toThrow('browser');
    const client = createClient({ url: server.url, token: () => Promise.resolve('t') });
    expect((await client.request(QUERY)).cost).toBe(1);
  } finally {
    Reflect.deleteProperty(globalThis, 'document');
  }
});
