import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { begin } from '../../../../test/suite/http-client.ts';
import { callsIn } from '../../../../test/suite/records/recorded-usage.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      UPSTREAM_CONNECTIONS: '4',
      UPSTREAM_CONNECT_TIMEOUT_MS: '600',
      UPSTREAM_HEADERS_TIMEOUT_MS: '1500',
      UPSTREAM_BODY_IDLE_TIMEOUT_MS: '1000',
    },
  });
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

/** Begins a call with a small body. */
function start(token = gateway.auth.issue()) {
  return begin(gateway.graphqlUrl, { headers: { authorization: `Bearer ${token}` }, body: '{}' });
}

/** How an answer that has begun ends. */
function ending(answer: IncomingMessage): Promise<'whole' | 'cut'> {
  return new Promise((resolve) => {
    answer
      .resume()
      .on('error', () => undefined)
      .once('close', () => {
        resolve(answer.complete ? 'whole' : 'cut');
      });
  });
}

describe('an upstream that gives no answer', () => {
  test('that closes: 502, and it costs nothing', async () => {
    gateway.upstream((req) => req.socket.destroy());
    const before = callsIn(await gateway.usage(0));
    const answer = await gateway.query();
    expect(answer.status).toBe(502);
    expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'upstream_unreachable' } }] });
    expect(answer.body.toString()).not.toMatch(/127\.0\.0\.1|ECONN|undici|socket/i);
    gateway.upstream(answerOk);
    await gateway.query();
    expect(callsIn(await gateway.usage(before + 1))).toBe(before + 1);
  });

  test('that answers in no HTTP: 502', async () => {
    gateway.upstream((req) => req.socket.end('SMTP ready\r\n\r\n'));
    expect((await gateway.query()).status).toBe(502);
  });

  test('that is silent: 504, and it costs nothing', async () => {
    gateway.upstream(() => undefined);
    const before = callsIn(await gateway.usage(0));
    const answer = await gateway.query();
    expect(answer.status).toBe(504);
    expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'upstream_timeout' } }] });
    expect(callsIn(await gateway.usage(before))).toBe(before);
  });

  test('whose connections are all in use: 503 with Retry-After, then service as before', async () => {
    const held: (() => void)[] = [];
    gateway.upstream((_req, res) => {
      held.push(() => res.end('{}'));
    });
    const busy = Array.from({ length: 4 }, () => start().answer);
    await waitFor(() => held.length === 4);
    const refused = await gateway.query();
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    for (const finish of held) finish();
    for (const answer of await Promise.all(busy)) expect(answer.statusCode).toBe(200);
    gateway.upstream(answerOk);
    expect((await gateway.query()).status).toBe(200);
  });
});

describe('an answer that breaks off is cut for the caller as well, never made to look whole', () => {
  test.each([
    ['with Content-Length', { 'content-length': '100000' }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
    ['in chunks of events', { 'transfer-encoding': 'chunked', 'content-type': 'text/event-stream' }],
  ])('%s', async (_name, headers) => {
    gateway.upstream((_req, res) => {
      res.writeHead(200, headers);
      res.write(`{"data":"${'x'.repeat(20_000)}`, () => {
        res.socket?.destroy();
      });
    });
    const response = await start().answer;
    expect(response.statusCode).toBe(200);
    expect(await ending(response)).toBe('cut');
  });

  test.each([
    ['of known length', { 'content-length': '100' }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
    ['in chunks, as JSON', { 'transfer-encoding': 'chunked', 'content-type': 'application/json' }],
  ])('one %s that was held back because it is short: 502, and it costs nothing', async (_name, headers) => {
    gateway.upstream((_req, res) => {
      res.writeHead(200, { ...headers, 'x-points': '7' });
      res.write('{"data":', () => {
        res.socket?.destroy();
      });
    });
    const before = callsIn(await gateway.usage(0));
    const answer = await gateway.query();
    expect(answer.status).toBe(502);
    expect(answer.headers['x-points-cost']).toBe('0');
    gateway.upstream(answerOk);
    await gateway.query();
    expect(callsIn(await gateway.usage(before + 1))).toBe(before + 1);
  });

  test('by silence', async () => {
    gateway.upstream((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/plain' });
      res.write('{"data":');
    });
    expect(await ending(await start().answer)).toBe('cut');
    expect(await gateway.metric('tollgate_data_calls_total', { outcome: 'broken' })).toBeGreaterThanOrEqual(
      1,
    );
  });
});

describe('short documents in chunks', () => {
  test('come whole, with their length', async () => {
    gateway.upstream((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write('{"data":');
      setTimeout(() => res.end('{}}'), 50);
    });
    const answer = await gateway.query();
    expect([answer.headers['content-length'], answer.body.toString()]).toEqual(['11', '{"data":{}}']);
    expect(answer.headers).not.toHaveProperty('transfer-encoding');
  });

  test('are passed on as they come where they are slow', async () => {
    let finish: () => void = () => undefined;
    gateway.upstream((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write('{"data":');
      finish = () => res.end('{}}');
    });
    const response = await start().answer;
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toBe('{"data":');
    finish();
    expect(await ending(response)).toBe('whole');
  });

  test('an empty one is empty', async () => {
    gateway.upstream((_req, res) => {
      res.writeHead(200, { 'transfer-encoding': 'chunked' }).end();
    });
    const answer = await gateway.query();
    expect([answer.headers['content-length'], answer.body.length]).toEqual(['0', 0]);
  });
});

describe('a server error (5xx)', () => {
  async function costOf(accountId: number, headers: Record<string, string>) {
    gateway.upstream((_req, res) => {
      res.writeHead(503, headers).end('{"errors":[{"message":"down"}]}');
    });
    const answer = await gateway.query({ token: gateway.auth.issue({ accountId }) });
    const [usage] = await gateway.usage(1, accountId);
    return { status: answer.status, cost: answer.headers['x-points-cost'], usage };
  }

  test('costs no points where it states none; it is a request, and its bytes are traffic', async () => {
    expect(await costOf(611, {})).toMatchObject({
      status: 503,
      cost: '0',
      usage: { points: 0, requests: 1, traffic_bytes: 31 },
    });
  });

  test('costs what it states', async () => {
    expect(await costOf(612, { 'x-points': '4' })).toMatchObject({ cost: '4', usage: { points: 4 } });
  });

  test('costs nothing where what it states can not be read', async () => {
    expect(await costOf(613, { 'x-points': 'four' })).toMatchObject({ cost: '0', usage: { points: 0 } });
  });
});

describe('an upstream that can not be connected to', () => {
  async function unreachable(url: string): Promise<GatewayUnderTest> {
    return startGateway({ env: { UPSTREAM_URL: `${url}/graphql`, UPSTREAM_CONNECT_TIMEOUT_MS: '300' } });
  }

  test('refused: 502 upstream_unreachable', async () => {
    const other = await unreachable(`http://127.0.0.1:${String(await freePort())}`);
    try {
      const answer = await other.query();
      expect(answer.status).toBe(502);
      expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'upstream_unreachable' } }] });
    } finally {
      await other.stop();
    }
  });

  test('no answer to the handshake: 502 upstream_unreachable', async () => {
    // An address for documentation (RFC 5737): nobody is there.
    const other = await unreachable('http://192.0.2.1');
    try {
      expect((await other.query()).status).toBe(502);
    } finally {
      await other.stop();
    }
  });
});
