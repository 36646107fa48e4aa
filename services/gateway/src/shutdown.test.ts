import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { begin, call } from './suite/http-client.ts';
import { recordedBatches } from './suite/recorded-usage.ts';

let gateway: GatewayUnderTest;

afterEach(() => gateway.stop());

async function recordedEvents(): Promise<number> {
  return (await recordedBatches(gateway.redis.url)).flatMap(({ events }) => events).length;
}

test('SIGTERM during calls: those under way finish, the process ends well, and all usage is in Redis', async () => {
  gateway = await startGateway();
  gateway.upstream((req, res) => {
    req.resume();
    setTimeout(() => res.end('{"data":{}}'), 50);
  });
  const token = gateway.auth.issue();
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const outcomes = { answered: 0, refused: 0, lost: 0 };

  /** One caller that goes on until the door is closed; keep-alive, as real callers are. */
  const caller = async () => {
    for (;;) {
      const sent = request(gateway.graphqlUrl, {
        agent,
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-length': 2 },
      });
      sent.end('{}');
      try {
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        await once(answer.resume(), 'end');
        if (answer.statusCode === 200) outcomes.answered += 1;
        else outcomes.lost += 1;
      } catch (error) {
        // The door was closed before the call: at the handshake, or as the idle connection ended.
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ECONNREFUSED' || (code === 'ECONNRESET' && sent.reusedSocket)) outcomes.refused += 1;
        else outcomes.lost += 1;
        return;
      }
    }
  };
  const callers = Array.from({ length: 32 }, caller);
  await waitFor(() => outcomes.answered > 200);
  const { code } = await gateway.process.stop();
  await Promise.all(callers);
  agent.destroy();
  expect(code).toBe(0);
  expect(outcomes.lost).toBe(0);
  expect(await recordedEvents()).toBe(outcomes.answered);
  expect(gateway.process.logs()).not.toContain('usage was lost');
});

test('an answer that is being streamed at SIGTERM is finished and counted', async () => {
  gateway = await startGateway();
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
  expect(await recordedEvents()).toBe(1);
});

test('Redis away at SIGTERM: the queue is flushed when it is back in time', async () => {
  gateway = await startGateway();
  await holdUsageBack(3);
  const stopped = gateway.process.stop();
  await waitFor(() => gateway.process.logs().includes('shutting down'));
  await gateway.redis.restart();
  expect((await stopped).code).toBe(0);
  expect(await recordedEvents()).toBe(3);
});

test('Redis away for good: the process ends within its limit and says how much was lost', async () => {
  gateway = await startGateway({ env: { SHUTDOWN_TIMEOUT_MS: '1000' } });
  await holdUsageBack(3);
  expect((await gateway.process.stop()).code).toBe(1);
  const line = gateway.process
    .logs()
    .split('\n')
    .find((entry) => entry.includes('usage was lost'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'error', lost_events: 3 });
  await gateway.redis.restart();
});

/** Lets the upstream answer some calls whose usage Redis is no longer there to take. */
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
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  const { body } = await call(`${gateway.process.privateUrl}/metrics`, { method: 'GET' });
  expect(body.toString()).toContain('tollgate_settlement_queue_events');
  expect(await gateway.metric('tollgate_settlement_queue_events')).toBe(calls);
}
