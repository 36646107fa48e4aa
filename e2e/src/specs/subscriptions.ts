import { describe, expect, test } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { SubscriptionClient } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';
import { eventually, obtainToken, readUsage, settledUsage } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

const TIMES = 4;
const INTERVAL_MS = 400;
const QUERY = `subscription {
  countryOfTheMoment(intervalMs: ${String(INTERVAL_MS)}, times: ${String(TIMES)}) { name }
}`;

type Subscribe = (url: string, token: string) => Promise<unknown[]>;

async function byGraphqlWs(url: string, token: string): Promise<unknown[]> {
  const client = createClient({ url, webSocketImpl: WebSocket, connectionParams: { token } });
  const seen: unknown[] = [];
  for await (const result of client.iterate({ query: QUERY })) seen.push(result);
  await client.dispose();
  return seen;
}

async function bySubscriptionsTransportWs(url: string, token: string): Promise<unknown[]> {
  const connectionParams = { Authorization: `Bearer ${token}` };
  const client = new SubscriptionClient(url, { connectionParams }, WebSocket);
  const seen = await new Promise<unknown[]>((resolve, reject) => {
    const results: unknown[] = [];
    client.request({ query: QUERY }).subscribe({
      next: (result) => results.push(result),
      error: reject,
      complete: () => {
        resolve(results);
      },
    });
  });
  client.close();
  return seen;
}

/** Follows a subscription without end, as each client's documentation says; `stop` ends it. */
type Follow = (url: string, token: string, onResult: () => void, onOver: () => void) => () => void;

const ENDLESS = 'subscription { countryOfTheMoment(intervalMs: 100, times: 3600) { name } }';

const followByGraphqlWs: Follow = (url, token, onResult, onOver) => {
  const client = createClient({ url, webSocketImpl: WebSocket, connectionParams: { token } });
  client.subscribe({ query: ENDLESS }, { next: onResult, error: onOver, complete: onOver });
  return () => void client.dispose();
};

const followBySubscriptionsTransportWs: Follow = (url, token, onResult, onOver) => {
  const options = { reconnect: true, connectionParams: { token } };
  const client = new SubscriptionClient(url, options, WebSocket);
  client.request({ query: ENDLESS }).subscribe({ next: onResult, error: onOver, complete: onOver });
  return () => {
    client.close();
  };
};

/** Subscriptions over WebSocket, through the whole stack to the usage. */
export function subscriptions(stack: () => Stack): void {
  describe('a subscription over WebSocket', () => {
    test.each<[string, Subscribe]>([
      ['graphql-ws', byGraphqlWs],
      ['subscriptions-transport-ws', bySubscriptionsTransportWs],
    ])(
      'by the client of %s is in the usage: one request, its time, its traffic',
      async (_name, subscribe) => {
        const { demo } = stack();
        const token = await obtainToken(demo, demo.application);
        const { usage: before } = (await settledUsage(demo, token)).billing_period;
        const beganMs = performance.now();
        const seen = await subscribe(`${demo.streaming_url.replace('http', 'ws')}/graphql`, token);
        const openSec = (performance.now() - beganMs) / 1_000;
        expect(seen).toHaveLength(TIMES);
        for (const result of seen) {
          expect(result).toMatchObject({ data: { countryOfTheMoment: { name: expect.any(String) } } });
        }
        const payloadBytes = Buffer.byteLength(seen.map((result) => JSON.stringify(result)).join(''));
        const counted = ({ billing_period: { usage } }: Awaited<ReturnType<typeof readUsage>>) => ({
          requests: usage.requests_usage - before.requests_usage,
          sec: usage.time_sec_usage - before.time_sec_usage,
          bytes: usage.traffic_bytes_usage - before.traffic_bytes_usage,
        });
        const after = await eventually(
          () => readUsage(demo, token),
          (answer) => counted(answer).requests > 0 && counted(answer).bytes > payloadBytes,
          10_000,
        );
        const { requests, sec, bytes } = counted(after);
        expect(requests).toBe(1);
        // Whole seconds of the period are reported, and its earlier ones may have left a part of one.
        expect(sec).toBeGreaterThanOrEqual(Math.floor(((TIMES - 1) * INTERVAL_MS) / 1_000));
        expect(sec).toBeLessThanOrEqual(Math.ceil(openSec));
        // The messages around the results, and one that says that it is complete.
        expect(bytes).toBeLessThan(payloadBytes + (TIMES + 1) * 150);
      },
    );

    test.each<[string, Follow]>([
      ['graphql-ws', followByGraphqlWs],
      ['subscriptions-transport-ws', followBySubscriptionsTransportWs],
    ])(
      'is resumed by the client of %s after the data API was restarted',
      async (_name, follow) => {
        const { demo, kill, start } = stack();
        const token = await obtainToken(demo, demo.application);
        let results = 0;
        let isOver = false;
        const stop = follow(
          `${demo.streaming_url.replace('http', 'ws')}/graphql`,
          token,
          () => (results += 1),
          () => (isOver = true),
        );
        const resultsAfter = async (count: number) =>
          eventually(
            () => Promise.resolve(results),
            (seen) => seen > count,
            30_000,
          );
        await resultsAfter(2);
        await kill('upstream');
        const before = results;
        await start('upstream');
        await resultsAfter(before + 2);
        expect(isOver).toBe(false);
        stop();
      },
      90_000,
    );
  });
}
