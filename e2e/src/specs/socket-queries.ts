import { describe, expect, test } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { eventually, obtainToken, postGraphql, readUsage, settledUsage } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

const QUERY = '{ countries(first: 20) { name languages { name } } }';
const TIMES = 10;

/** Queries over a WebSocket, through the whole stack to the usage. */
export function socketQueries(stack: () => Stack): void {
  describe('a query over a WebSocket', () => {
    test('costs what it costs by POST', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      const posted = await postGraphql(demo, token, QUERY);
      await posted.arrayBuffer();
      const points = Number(posted.headers.get('x-points-cost'));
      expect(points).toBeGreaterThan(100);
      const { usage: before } = (await settledUsage(demo, token)).billing_period;
      const client = createClient({
        url: `${demo.streaming_url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { token },
      });
      for (let asked = 0; asked < TIMES; asked += 1) {
        for await (const { data, extensions } of client.iterate({ query: QUERY })) {
          expect(data).toHaveProperty('countries');
          expect(extensions).toEqual({ points });
        }
      }
      await client.dispose();
      const { usage: after } = (
        await eventually(
          () => readUsage(demo, token),
          ({ billing_period: { usage } }) => usage.requests_usage >= before.requests_usage + TIMES,
          10_000,
        )
      ).billing_period;
      expect([
        after.requests_usage - before.requests_usage,
        after.points_usage - before.points_usage,
      ]).toEqual([TIMES, TIMES * points]);
    });
  });
}
