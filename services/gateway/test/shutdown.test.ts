import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { waitFor } from '@tollgate/stack/wait-for';
import { ownProcesses } from '@tollgate/testbed/config';
import { startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { begin, call } from './suite/http-client.ts';
import { callsIn, recordedBatches } from './suite/records/recorded-usage.ts';

ownProcesses();

/** The product's own; the suites have a shorter one, since each of their services waits for it at its end. */
const IDLE_GRACE = { SHUTDOWN_IDLE_GRACE_MS: '500' };

let gateway: GatewayUnderTest;

afterEach(() => gateway.stop());

async function recordedCalls(): Promise<number> {
  return callsIn((await recordedBatches(gateway.redis.url)).flatMap(({ events }) => events));
}

type Outcomes = { answered: number; refused: number; lost: number };

/**
 * A keep-alive caller that calls until every connection is refused. Of any other failure, nothing says whether the call
 * was carried out.
 */
async function callUntilRefused(
  doors: GatewayUnderTest[],
  agent: Agent,
  token: string,
  outcomes: Outcomes,
  goOn: () => boolean = () => true,
): Promise<void> {
  const [door, ...others] = doors;
  if (door === undefined || !goOn()) return;
  const sent = request(door.graphqlUrl, {
    agent,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-length': 2, 'content-type': 'application/json' },
  });
  sent.end('{}');
  let left = doors;
  try {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    if (answer.statusCode === 200) outcomes.answered += 1;
    else outcomes.lost += 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') outcomes.refused += 1;
    else outcomes.lost += 1;
    left = others;
  }
  await callUntilRefused(left, agent, token, outcomes, goOn);
}

function answerSlowly(under: GatewayUnderTest): void {
  under.upstream((req, res) => {
    req.resume();
    setTimeout(() => res.end('{"data":{}}'), 20);
  });
}

test('SIGTERM under load: no call is lost, the process ends well, and all usage is in Redis', async () => {
  gateway = await startGateway({ env: IDLE_GRACE });
  answerSlowly(gateway);
  const token = gateway.auth.issue();
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const outcomes = { answered: 0, refused: 0, lost: 0 };
  const callers = Array.from({ length: 32 }, () => callUntilRefused([gateway], agent, token, outcomes));
  await waitFor(() => outcomes.answered > 200);
  const { code } = await gateway.process.stop();
  await Promise.all(callers);
  agent.destroy();
  expect(code).toBe(0);
  expect(outcomes).toMatchObject({ lost: 0, refused: 32 });
  expect(await recordedCalls()).toBe(outcomes.answered);
  expect(gateway.process.logs()).not.toContain('usage was lost');
});

test('one of two gateways stops under load: its callers go on at the other, and every answer is counted', async () => {
  gateway = await startGateway({ env: IDLE_GRACE });
  const other = await startGateway({
    redisUrl: () => Promise.resolve(gateway.redis.url),
    env: { ...IDLE_GRACE, AUTH_PRIVATE_URL: gateway.auth.url },
  });
  try {
    answerSlowly(gateway);
    answerSlowly(other);
    const token = gateway.auth.issue();
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const outcomes = { answered: 0, refused: 0, lost: 0 };
    let stopped = false;
    const callers = Array.from({ length: 16 }, () =>
      callUntilRefused([other, gateway], agent, token, outcomes, () => !stopped),
    );
    await waitFor(() => outcomes.answered > 100);
    expect((await other.process.stop()).code).toBe(0);
    const answeredByOther = outcomes.answered;
    await waitFor(() => outcomes.answered > answeredByOther + 100);
    stopped = true;
    await Promise.all(callers);
    agent.destroy();
    expect(outcomes).toMatchObject({ lost: 0, refused: 16 });
    await waitFor(async () => (await recordedCalls()) === outcomes.answered);
  } finally {
    await other.stop();
  }
});

test('an answer without end is cut in time for its usage to be counted, and the process ends well', async () => {
  gateway = await startGateway({ env: { ...IDLE_GRACE, SHUTDOWN_TIMEOUT_MS: '2000' } });
  gateway.upstream((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-points': '4' }).write('event');
  });
  const { answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${gateway.auth.issue()}` },
    body: '{}',
  });
  const response = await answer;
  const ended = new Promise((resolve) => response.once('close', resolve));
  response.resume().on('error', () => undefined);
  expect((await gateway.process.stop()).code).toBe(0);
  await ended;
  expect(response.complete).toBe(false);
  // Several slices, because a stream is metered while it is open.
  const slices = (await recordedBatches(gateway.redis.url)).flatMap(({ events }) => events);
  const sum = (counter: 'points' | 'requests' | 'traffic_bytes') =>
    slices.reduce((total, slice) => total + slice[counter], 0);
  expect([sum('points'), sum('requests'), sum('traffic_bytes')]).toEqual([4, 1, 5]);
});

test('a call whose caller has gone is waited for at SIGTERM, and counted', async () => {
  gateway = await startGateway({ env: IDLE_GRACE });
  let finish: (() => void) | undefined;
  gateway.upstream((req, res) => {
    req.resume().once('end', () => {
      finish = () => res.writeHead(200, { 'x-points': '6' }).end('{}');
    });
  });
  const { request, answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${gateway.auth.issue()}` },
    body: '{}',
  });
  answer.catch(() => undefined);
  await waitFor(() => finish);
  request.socket?.resetAndDestroy();
  const stopped = gateway.process.stop();
  await waitFor(() => gateway.process.logs().includes('shutting down'));
  finish?.();
  expect((await stopped).code).toBe(0);
  const events = (await recordedBatches(gateway.redis.url)).flatMap((batch) => batch.events);
  expect(events).toMatchObject([{ points: 6, requests: 1 }]);
});

test('a call whose caller has gone and that gets no answer does not keep the process from its end', async () => {
  gateway = await startGateway({ env: { ...IDLE_GRACE, SHUTDOWN_TIMEOUT_MS: '1000' } });
  let came = false;
  gateway.upstream((req) => {
    req.resume();
    came = true;
  });
  const { request, answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${gateway.auth.issue()}` },
    body: '{}',
  });
  answer.catch(() => undefined);
  await waitFor(() => came);
  request.socket?.resetAndDestroy();
  expect((await gateway.process.stop()).code).toBe(0);
  expect(await recordedCalls()).toBe(0);
});

test('an answer that is being streamed at SIGTERM is finished and counted', async () => {
  gateway = await startGateway({ env: IDLE_GRACE });
  let finish: () => void = () => undefined;
  gateway.upstream((_req, res) => {
    res.writeHead(200);
    res.write('first');
    finish = () => res.end('last');
  });
  const { answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${gateway.auth.issue()}` },
    body: '{}',
  });
  const response = await answer;
  const stopped = gateway.process.stop();
  await waitFor(() => gateway.process.logs().includes('shutting down'));
  finish();
  let body = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) body += chunk;
  expect(body).toBe('firstlast');
  expect((await stopped).code).toBe(0);
  expect(await recordedCalls()).toBe(1);
});

test('Redis away at SIGTERM: the queue is flushed when it is back in time', async () => {
  gateway = await startGateway({ env: { ...IDLE_GRACE, SETTLEMENT_TIMEOUT_MS: '200' } });
  await holdUsageBack(3);
  const stopped = gateway.process.stop();
  await waitFor(() => gateway.process.logs().includes('shutting down'));
  await gateway.redis.restart();
  expect((await stopped).code).toBe(0);
  expect(await recordedCalls()).toBe(3);
});

test('Redis away for good: the process ends within its limit and says how much was lost', async () => {
  gateway = await startGateway({
    env: { ...IDLE_GRACE, SHUTDOWN_TIMEOUT_MS: '1000', SETTLEMENT_TIMEOUT_MS: '200' },
  });
  await holdUsageBack(3);
  expect((await gateway.process.stop()).code).toBe(1);
  const line = gateway.process
    .logs()
    .split('\n')
    .find((entry) => entry.includes('usage was lost'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'error', lost_events: 3 });
  await gateway.redis.restart();
});

/** Lets the upstream answer calls whose usage Redis is no longer there to record. */
async function holdUsageBack(calls: number): Promise<void> {
  const finish: (() => void)[] = [];
  gateway.upstream((req, res) => {
    req.resume();
    finish.push(() => res.end('{}'));
  });
  const answers = Array.from({ length: calls }, () => gateway.query());
  await waitFor(() => finish.length === calls);
  await gateway.redis.kill();
  for (const end of finish) end();
  for (const { status } of await Promise.all(answers)) expect(status).toBe(503);
  const { body } = await call(`${gateway.process.privateUrl}/metrics`, { method: 'GET' });
  expect(body.toString()).toContain('tollgate_settlement_queue_events');
  expect(await gateway.metric('tollgate_settlement_queue_events')).toBe(calls);
}
