import { describe, expect, test } from '@jest/globals';
import { request } from 'node:http';
import { connect } from 'node:net';
import { eventually, obtainToken, postGraphql, readUsage, settledUsage } from '../caller.ts';
import type { Demo, Stack } from '../stack/stack.ts';

const QUERY = '{ country(code: "NO") { name capital } }';
const SUBSCRIPTION = 'subscription { countryOfTheMoment(intervalMs: 200) { name } }';
const TIME_LIMIT_MS = 10_000;

/** Sum of a metric of the gateway. */
async function gatewayMetric({ private: { gateway_url } }: Demo, name: string): Promise<number> {
  const text = await (await fetch(`${gateway_url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

const untilMetric = (demo: Demo, name: string, value: number) =>
  eventually(
    () => gatewayMetric(demo, name),
    (seen) => seen === value,
    TIME_LIMIT_MS,
  );

/**
 * Hangs up on a call once it is at the upstream, which doesn't answer yet. By a reset, since a caller that only closes
 * could still read; what carries a published port of a container may turn it into an orderly close.
 */
async function hangUp({ demo, kind }: Stack, token: string): Promise<void> {
  const call = request(`${demo.streaming_url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    agent: false,
  });
  call.on('error', () => undefined).end(JSON.stringify({ query: QUERY }));
  await untilMetric(demo, 'tollgate_upstream_in_flight', 1);
  call.socket?.resetAndDestroy();
  if (kind === 'processes') await untilMetric(demo, 'tollgate_data_calls_abandoned', 1);
}

/** How an HTTP/1.0 answer, which ends with its connection, ends once half of it is there and `act` is done. */
async function endOfHalf(demo: Demo, token: string, act: () => Promise<void>): Promise<string> {
  const { hostname, port } = new URL(demo.streaming_url);
  const socket = connect({ host: hostname, port: Number(port) });
  const body = JSON.stringify({ query: SUBSCRIPTION });
  const ended = new Promise<string>((resolve) => {
    socket.once('end', () => {
      resolve('closed');
    });
    socket.once('error', ({ code = '' }: NodeJS.ErrnoException) => {
      resolve(code);
    });
  });
  const half = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('event: next')) resolve();
    });
  });
  socket.write(
    `POST /graphql HTTP/1.0\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
  );
  await half;
  await act();
  return ended;
}

/** Calls that the caller or the upstream leaves before their end. */
export function interruptedCalls(stack: () => Stack): void {
  describe('an interrupted call', () => {
    test('that its caller hangs up on costs what its answer says', async () => {
      const { demo, pause, resume } = stack();
      const token = await obtainToken(demo, demo.application);
      const seen = await postGraphql(demo, token, QUERY);
      const points = Number(seen.headers.get('x-points-cost'));
      await seen.arrayBuffer();
      const { usage: before } = (await settledUsage(demo, token)).billing_period;
      await pause('upstream');
      try {
        await hangUp(stack(), token);
        expect(await gatewayMetric(demo, 'tollgate_leases_held')).toBe(1);
      } finally {
        await resume('upstream');
      }
      const { billing_period } = await eventually(
        () => readUsage(demo, token),
        ({ billing_period: { usage } }) => usage.requests_usage > before.requests_usage,
        TIME_LIMIT_MS,
      );
      expect(billing_period.usage).toEqual({
        ...before,
        requests_usage: before.requests_usage + 1,
        points_usage: before.points_usage + points,
      });
      expect(await gatewayMetric(demo, 'tollgate_leases_held')).toBe(0);
    });

    test('that the upstream breaks off never looks whole', async () => {
      const { demo, kill, start, kind } = stack();
      const token = await obtainToken(demo, demo.application);
      const response = await fetch(`${demo.streaming_url}/graphql`, {
        method: 'POST',
        headers: {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ query: SUBSCRIPTION }),
      });
      const whole = response.text();
      // Whatever carries a published port of a container may turn a reset into an orderly close.
      if (kind === 'processes') {
        expect(await endOfHalf(demo, token, () => kill('upstream'))).toBe('ECONNRESET');
      } else {
        await kill('upstream');
      }
      await expect(whole).rejects.toThrow();
      await start('upstream');
      expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
    });
  });
}
