import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExecutionResult } from 'graphql';
import { createClient } from 'graphql-ws';
import { SubscriptionClient } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

type Upstream = { child: ChildProcess; base: string };

/** As users do, on a free port. */
async function startUpstream(settings: Record<string, string> = {}): Promise<Upstream> {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    const { port } = JSON.parse(line) as { port: number };
    return { child, base: `http://127.0.0.1:${String(port)}` };
  }
  throw new Error('the upstream ended before it listened');
}

async function stopUpstream({ child }: Upstream): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = (await exited) as [number | null];
  return code;
}

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => stopUpstream(upstream));

function post(query: string, variables: Record<string, unknown> = {}): Promise<Response> {
  return fetch(`${upstream.base}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
}

async function ask(query: string, variables: Record<string, unknown> = {}) {
  const response = await post(query, variables);
  return { points: response.headers.get('x-points'), body: (await response.json()) as unknown };
}

describe('queries over HTTP', () => {
  test('answer with data and the price', async () => {
    expect(await ask('{ country(code: "ch") { name capital currencies languages { name } } }')).toEqual({
      points: '15',
      body: {
        data: {
          country: {
            name: 'Switzerland',
            capital: 'Bern',
            currencies: expect.arrayContaining(['CHF']),
            languages: [{ name: 'German' }, { name: 'French' }, { name: 'Italian' }],
          },
        },
      },
    });
  });

  test('filter by continent, language and a part of the name', async () => {
    const query = 'query ($filter: CountryFilter!) { countries(filter: $filter, first: 50) { code } }';
    const codes = async (filter: Record<string, string>) => {
      const { body } = (await ask(query, { filter })) as {
        body: { data: { countries: { code: string }[] } };
      };
      return body.data.countries.map(({ code }) => code);
    };
    expect(await codes({ continent: 'SA', language: 'es' })).toEqual(
      expect.arrayContaining(['AR', 'CL', 'PE', 'UY']),
    );
    expect(await codes({ continent: 'SA', language: 'pt' })).toEqual(['BR']);
    expect(await codes({ nameContains: 'ZEALAND' })).toEqual(['NZ']);
    expect(await codes({ continent: 'EU', language: 'pt' })).toEqual(['PT']);
    expect(await codes({ continent: 'nowhere' })).toEqual([]);
  });

  test('page without a gap or an overlap', async () => {
    const seen: string[] = [];
    for (let offset = 0; ; offset += 60) {
      const { body } = (await ask(
        'query ($offset: Int!) { countries(first: 60, offset: $offset) { name } }',
        { offset },
      )) as { body: { data: { countries: { name: string }[] } } };
      seen.push(...body.data.countries.map(({ name }) => name));
      if (body.data.countries.length < 60) break;
    }
    expect(seen.length).toBeGreaterThan(240);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(seen.toSorted((a, b) => a.localeCompare(b, 'en')));
  });

  test('walk the relations both ways', async () => {
    const { body } = await ask(
      '{ language(code: "IS") { countries { name continent { name countries(first: 1) { name } } } } }',
    );
    expect(body).toEqual({
      data: {
        language: {
          countries: [{ name: 'Iceland', continent: { name: 'Europe', countries: [{ name: 'Aland' }] } }],
        },
      },
    });
  });

  test('give null for an unknown code', async () => {
    expect(await ask('{ country(code: "XX") { name } continent(code: "XX") { name } }')).toEqual({
      points: '4',
      body: { data: { country: null, continent: null } },
    });
  });

  test('work by GET as well', async () => {
    const url = `${upstream.base}/graphql?query=${encodeURIComponent('{ continents { name } }')}`;
    const response = await fetch(url);
    expect(response.headers.get('x-points')).toBe('8');
    expect(await response.json()).toMatchObject({ data: { continents: expect.any(Array) } });
  });

  test('that are invalid, refused or not GraphQL at all cost one point', async () => {
    const headers = { 'content-type': 'application/json' };
    const url = `${upstream.base}/graphql`;
    const answers = [
      await post('{ nothing }'),
      await post('{'),
      await post('{ countries(first: 101) { name } }'),
      await post(`{ ${'__typename '.repeat(3_000)} }`),
      await fetch(url, { method: 'POST', headers, body: 'not json' }),
      await fetch(url, { method: 'POST', headers, body: '[]' }),
      await fetch(url, { method: 'PUT', headers, body: '{}' }),
    ];
    for (const answer of answers) {
      expect(answer.headers.get('x-points')).toBe('1');
      expect(await answer.json()).toMatchObject({ errors: [{ message: expect.any(String) }] });
    }
  });
});

test('a body of another type is 415 with a GraphQL error, for 0 points', async () => {
  const answer = await fetch(`${upstream.base}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: 'a,b',
  });
  expect([answer.status, answer.headers.get('x-points')]).toEqual([415, '0']);
  expect(answer.headers.get('content-type')).toContain('json');
  expect(await answer.json()).toEqual({
    errors: [{ message: expect.any(String), extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }],
  });
});

describe('the subscription', () => {
  const query = 'subscription { countryOfTheMoment(intervalMs: 100, times: 3) { name } }';
  const event = {
    data: { countryOfTheMoment: { name: expect.any(String) } },
    extensions: { points: 2 },
  };

  function client() {
    return createClient({
      url: `${upstream.base.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
  }

  test('comes over a WebSocket with graphql-transport-ws', async () => {
    const socket = client();
    const events: unknown[] = [];
    for await (const result of socket.iterate({ query })) events.push(result);
    await socket.dispose();
    expect(events).toEqual([event, event, event]);
  });

  test('ends at once when its reader leaves, however long the interval', async () => {
    const socket = client();
    const events = socket.iterate({
      query: 'subscription { countryOfTheMoment(intervalMs: 60000) { name } }',
    });
    expect(await events.next()).toMatchObject({ done: false, value: event });
    await events.return?.();
    const answer: unknown[] = [];
    for await (const result of socket.iterate({ query: '{ country(code: "CH") { name } }' }))
      answer.push(result);
    await socket.dispose();
    expect(answer).toEqual([{ data: { country: { name: 'Switzerland' } }, extensions: { points: 2 } }]);
  });

  test('is held to the same bounds over a WebSocket', async () => {
    const socket = client();
    for (const refused of ['{ countries(first: 101) { name } }', '{ nothing }', '{']) {
      await expect(socket.iterate({ query: refused }).next()).rejects.toEqual([
        expect.objectContaining({
          message: expect.any(String),
          extensions: expect.objectContaining({ points: 1 }),
        }),
      ]);
    }
    await socket.dispose();
  });

  test('comes over a WebSocket with the older graphql-ws, to the client of subscriptions-transport-ws', async () => {
    const client = new SubscriptionClient(
      `${upstream.base.replace('http', 'ws')}/graphql`,
      { reconnect: false },
      WebSocket,
    );
    const results = (document: string) =>
      new Promise<ExecutionResult[]>((resolve, reject) => {
        const seen: ExecutionResult[] = [];
        client.request({ query: document }).subscribe({
          next: (result) => void seen.push(result),
          error: reject,
          complete: () => {
            resolve(seen);
          },
        });
      });
    expect(await results(query)).toEqual([event, event, event]);
    // This client rejects with the message's payload, which isn't an Error.
    await expect(results('{ nothing }')).rejects.toMatchObject({
      message: expect.stringContaining('Cannot query field "nothing"'),
      extensions: { points: 1 },
    });
    client.close();
  });

  test('comes as server-sent events', async () => {
    const response = await fetch(`${upstream.base}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query }),
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('x-points')).toBe('2');
    const text = await response.text();
    expect(text.match(/^event: next$/gm)).toHaveLength(3);
    expect(text).toMatch(/^event: complete$/m);
  });
});

describe('the process', () => {
  test('answers probes and points lost callers to /graphql', async () => {
    const health = await fetch(`${upstream.base}/health`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    const lost = await fetch(`${upstream.base}/`);
    expect([lost.status, await lost.json()]).toEqual([
      404,
      { errors: [{ message: 'Not found; GraphQL is at /graphql' }] },
    ]);
  });

  test('serves for SHUTDOWN_DELAY_MS after SIGTERM, and tells clients to leave their connection', async () => {
    const own = await startUpstream({ SHUTDOWN_DELAY_MS: '60000' });
    const connection = async () => (await fetch(`${own.base}/health`)).headers.get('connection');
    expect(await connection()).toBe('keep-alive');
    own.child.kill('SIGTERM');
    while ((await connection()) !== 'close');
    const exited = once(own.child, 'exit');
    own.child.kill('SIGKILL');
    await exited;
  });

  test('ends on SIGTERM with code 0 while a subscription is open', async () => {
    const own = await startUpstream();
    const closed = Promise.withResolvers<number>();
    const socket = createClient({
      url: `${own.base.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      on: {
        closed: (event) => {
          closed.resolve((event as { code: number }).code);
        },
      },
    });
    const events = socket.iterate({ query: 'subscription { countryOfTheMoment { name } }' });
    await events.next();
    const ended = expect(events.next()).rejects.toBeDefined();
    expect(await stopUpstream(own)).toBe(0);
    expect(await closed.promise).toBe(1001);
    await ended;
  });

  test('names every wrong setting and a taken port, and ends with code 1', async () => {
    const run = async (env: Record<string, string>) => {
      const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'ignore', 'pipe'] });
      const text = child.stderr.toArray();
      const [code] = (await once(child, 'exit')) as [number | null];
      return { code, message: Buffer.concat((await text) as Buffer[]).toString() };
    };
    const wrong = await run({ HOST: ' ', PORT: '70000', SHUTDOWN_DELAY_MS: 'x' });
    expect(wrong.code).toBe(1);
    expect(wrong.message).toContain('HOST:');
    expect(wrong.message).toContain('PORT:');
    expect(wrong.message).toContain('SHUTDOWN_DELAY_MS:');
    const taken = await run({ PORT: new URL(upstream.base).port });
    expect(taken.code).toBe(1);
    expect(taken.message).toContain('taken by another process');
  });
});
