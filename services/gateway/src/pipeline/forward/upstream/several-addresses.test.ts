import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { begin, documentOf } from '../../../../test/suite/http-client.ts';
import { bodyOf } from '../../../../test/suite/upstreams/server.ts';
import { startUpstreamServer } from '../../../../test/suite/upstreams/upstream-server.ts';
import type { UpstreamServer } from '../../../../test/suite/upstreams/upstream-server.ts';

let one: UpstreamServer;
let two: UpstreamServer;
let gateway: GatewayUnderTest;

beforeAll(async () => {
  [one, two] = await Promise.all([startUpstreamServer('/one'), startUpstreamServer('/two/graphql')]);
});

beforeEach(async () => {
  await Promise.all([one.comeBack(), two.comeBack()]);
  for (const upstream of [one, two]) {
    upstream.requests.length = 0;
    upstream.does(answerOk);
  }
});

afterEach(() => gateway.stop());

afterAll(() => Promise.all([one.goAway(), two.goAway()]));

async function start(env: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway({
    env: {
      UPSTREAM_URL: `${one.url} ${two.url}`,
      UPSTREAM_EJECTION_FAILURES: '3',
      UPSTREAM_EJECTION_MIN_MS: '60000',
      UPSTREAM_HEADERS_TIMEOUT_MS: '1000',
      ...env,
    },
  });
}

async function statuses(calls: number): Promise<number[]> {
  const answers: number[] = [];
  for (let index = 0; index < calls; index += 1) answers.push((await gateway.query()).status);
  return answers;
}

const all200 = (calls: number) => Array.from({ length: calls }, () => 200);

function metricOf(name: string, upstream: UpstreamServer): Promise<number> {
  return gateway.metric(name, { api_version: 'v2', address: upstream.origin });
}

describe('all well', () => {
  test('calls go in turns, to each address with its own path', async () => {
    await start();
    expect(await statuses(10)).toEqual(all200(10));
    expect(one.requests).toEqual(Array.from({ length: 5 }, () => '/one'));
    expect(two.requests).toEqual(Array.from({ length: 5 }, () => '/two/graphql'));
  });

  test('a call goes where fewer are in flight', async () => {
    await start();
    const held: (() => void)[] = [];
    one.does((req, res) => {
      req.resume();
      held.push(() => res.end('{}'));
    });
    const slow = [gateway.query(), gateway.query()];
    await waitFor(() => held.length === 1 && two.requests.length === 1);
    expect(await metricOf('tollgate_upstream_in_flight', one)).toBe(1);
    expect(await statuses(6)).toEqual(all200(6));
    expect(one.requests).toHaveLength(1);
    for (const finish of held) finish();
    await Promise.all(slow);
    expect(await metricOf('tollgate_upstream_in_flight', one)).toBe(0);
    expect(await metricOf('tollgate_upstream_headers_duration_seconds_count', two)).toBe(7);
  });
});

describe('an address that refuses connections', () => {
  test('costs no caller an answer, and gets no calls while it is out', async () => {
    await start();
    await one.goAway();
    expect(await statuses(20)).toEqual(all200(20));
    expect(two.requests).toHaveLength(20);
    expect(await gateway.metric('tollgate_upstream_failures_total', { kind: 'connect' })).toBe(3);
    expect(await gateway.metric('tollgate_upstream_retries_total')).toBe(3);
    expect(await metricOf('tollgate_upstream_ejections_total', one)).toBe(1);
    expect(await metricOf('tollgate_upstream_healthy', one)).toBe(0);
    expect(await metricOf('tollgate_upstream_healthy', two)).toBe(1);
  });

  test('is tried again by one call when its time is over, and taken back', async () => {
    await start({ UPSTREAM_EJECTION_MIN_MS: '200' });
    await one.goAway();
    expect(await statuses(20)).toEqual(all200(20));
    await one.comeBack();
    const seen = new Set<number>();
    await waitFor(async () => {
      seen.add((await gateway.query()).status);
      return (await metricOf('tollgate_upstream_healthy', one)) === 1;
    });
    expect([...seen]).toEqual([200]);
    one.requests.length = 0;
    expect(await statuses(4)).toEqual(all200(4));
    expect(one.requests).toHaveLength(2);
  });

  test('is no loss for a long body: all of it goes to the other', async () => {
    await start();
    await one.goAway();
    const bodies: number[] = [];
    two.does((req, res) => {
      void bodyOf(req).then(({ length }) => {
        bodies.push(length);
        res.end('{}');
      });
    });
    const body = documentOf(500_000);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }, {}]) {
      expect((await gateway.query({ body, headers })).status).toBe(200);
    }
    expect(bodies).toEqual([500_000, 500_000, 500_000]);
    expect(await gateway.metric('tollgate_upstream_retries_total')).toBeGreaterThanOrEqual(1);
  });
});

describe('what may have been sent is never sent again', () => {
  test('a connection that is cut when the request has come: 502, and then that address is out', async () => {
    await start();
    one.does((req) => req.socket.destroy());
    const answers = await statuses(20);
    expect(answers.filter((status) => status === 502)).toHaveLength(3);
    expect(one.requests).toHaveLength(3);
    expect(two.requests).toHaveLength(17);
    expect(await gateway.metric('tollgate_upstream_failures_total', { kind: 'connection' })).toBe(3);
    expect(await gateway.metric('tollgate_upstream_retries_total')).toBe(0);
  });

  test('an address that is silent: 504, and then it is out', async () => {
    await start();
    one.does(() => undefined);
    const answers = await Promise.all(Array.from({ length: 6 }, () => gateway.query()));
    expect(answers.filter(({ status }) => status === 504)).toHaveLength(3);
    expect(await statuses(10)).toEqual(all200(10));
    expect(one.requests).toHaveLength(3);
    expect(await gateway.metric('tollgate_upstream_failures_total', { kind: 'headers_timeout' })).toBe(3);
  });
});

describe('all addresses out', () => {
  test('all are tried, so that the first one that is back serves at once', async () => {
    await start();
    await Promise.all([one.goAway(), two.goAway()]);
    expect(new Set(await statuses(10))).toEqual(new Set([502]));
    expect(await metricOf('tollgate_upstream_healthy', one)).toBe(0);
    expect(await metricOf('tollgate_upstream_healthy', two)).toBe(0);
    await two.comeBack();
    expect(await statuses(5)).toEqual(all200(5));
    expect(await metricOf('tollgate_upstream_healthy', two)).toBe(1);
  });
});

test('callers who go away before the answer, or within their bodies, take no address out', async () => {
  await start();
  for (const upstream of [one, two]) {
    upstream.does((req, res) => {
      req.resume().once('end', () => setTimeout(() => res.end('{}'), 100));
    });
  }
  const token = gateway.auth.issue();
  await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const seenBefore = one.requests.length + two.requests.length;
      const whole = index % 2 === 0;
      const { request, answer } = begin(gateway.graphqlUrl, {
        headers: { authorization: `Bearer ${token}`, 'content-length': whole ? 2 : 1_000_000 },
        body: whole ? '{}' : documentOf(100_000),
      });
      answer.catch(() => undefined);
      if (whole) await waitFor(() => one.requests.length + two.requests.length > seenBefore);
      else await once(request, 'finish');
      request.destroy();
    }),
  );
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 0);
  expect(await gateway.metric('tollgate_upstream_failures_total')).toBe(0);
  expect(await gateway.metric('tollgate_upstream_ejections_total')).toBe(0);
  expect(await gateway.metric('tollgate_upstream_in_flight')).toBe(0);
});
