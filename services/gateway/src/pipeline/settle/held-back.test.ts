import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OutgoingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { begin } from '../../../test/suite/http-client.ts';

const PART = '{"data":"';
const LONG = 'x'.repeat(100_000);

/** Answers that differ in how their end is known. */
const ANSWERS: [string, OutgoingHttpHeaders, string][] = [
  ['a short one of known length', { 'content-length': 2 }, '{}'],
  ['a long one of known length', { 'content-length': LONG.length }, LONG],
  ['a short one in chunks', { 'transfer-encoding': 'chunked' }, PART],
  ['a long one in chunks', { 'transfer-encoding': 'chunked' }, LONG],
];

/** Redis dies between the upstream's answer and its acknowledgement. */
function dieBeforeAnswering(gateway: GatewayUnderTest, headers: OutgoingHttpHeaders, body: string): void {
  gateway.upstream((_req, res) => {
    void gateway.redis.kill().then(() => {
      res.writeHead(200, { ...headers, 'x-points': '5' }).end(body);
    });
  });
}

async function seen(gateway: GatewayUnderTest) {
  const { answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${gateway.auth.issue()}` },
    body: '{}',
  });
  const response = await answer;
  const body = await buffer(response).catch(() => null);
  return { status: response.statusCode, headers: response.headers, body: body?.toString() ?? 'cut' };
}

async function settled(gateway: GatewayUnderTest, calls: number) {
  await gateway.redis.restart();
  await waitFor(async () => (await gateway.metric('tollgate_settlement_queue_events')) === 0);
  return gateway.usage(calls);
}

describe('kill -9 of Redis before the acknowledgement: no caller sees a complete answer, and none is lost', () => {
  let gateway: GatewayUnderTest;
  let calls = 0;

  beforeAll(async () => {
    gateway = await startGateway({ env: { SETTLEMENT_TIMEOUT_MS: '300' } });
  });

  afterAll(() => gateway.stop());

  test.each(ANSWERS)('%s', async (name, headers, body) => {
    dieBeforeAnswering(gateway, headers, body);
    const answer = await seen(gateway);
    calls += 1;
    if (name.startsWith('a short')) {
      expect(answer.status).toBe(503);
      expect(answer.headers['x-points-cost']).toBe('5');
      expect(JSON.parse(answer.body)).toMatchObject({
        errors: [{ extensions: { code: 'service_unavailable' } }],
      });
    } else {
      expect(answer).toMatchObject({ status: 200, body: 'cut' });
    }
    const events = await settled(gateway, calls);
    expect(events).toHaveLength(calls);
    expect(events.at(-1)).toMatchObject({ points: 5, requests: 1, traffic_bytes: body.length });
    gateway.upstream((_req, res) => res.end('{}'));
    await waitFor(async () => {
      const { status } = await gateway.query();
      if (status === 200) calls += 1;
      return status === 200;
    });
  });
});

describe('the same where SETTLEMENT_UNACKNOWLEDGED is pass: the answer is completed, and counted later', () => {
  test.each(ANSWERS)('%s', async (_name, headers, body) => {
    const gateway = await startGateway({
      env: { SETTLEMENT_TIMEOUT_MS: '300', SETTLEMENT_UNACKNOWLEDGED: 'pass' },
    });
    try {
      dieBeforeAnswering(gateway, headers, body);
      expect(await seen(gateway)).toMatchObject({ status: 200, body });
      expect(await settled(gateway, 1)).toMatchObject([{ points: 5, traffic_bytes: body.length }]);
    } finally {
      await gateway.stop();
    }
  });
});
