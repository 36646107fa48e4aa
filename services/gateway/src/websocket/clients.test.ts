import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from 'graphql-ws';
import type { Client, ClientOptions } from 'graphql-ws';
import { SubscriptionClient } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;
beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({ env: { UPSTREAM_WS_URL: upstream.url } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const wsUrl = () => gateway.graphqlUrl.replace('http', 'ws');

function newerClient(options: Partial<ClientOptions> = {}, headers: Record<string, string> = {}): Client {
  class WithHeaders extends WebSocket {
    constructor(url: string, protocols: string | string[]) {
      super(url, protocols, { headers });
    }
  }
  return createClient({ url: wsUrl(), webSocketImpl: WithHeaders, retryAttempts: 0, ...options });
}

async function results(client: Client, query: string): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const result of client.iterate({ query })) seen.push(result);
  return seen;
}

const TICKS = 'subscription { ticks(count: 3) }';
const THREE_TICKS = [0, 1, 2].map((ticks) => ({ data: { ticks } }));

describe('the client of graphql-ws', () => {
  test('subscribes with the token in connection_init, which goes no further', async () => {
    const token = gateway.auth.issue();
    const client = newerClient({
      connectionParams: {
        Authorization: `Bearer ${token}`,
        locale: 'de',
        headers: { authorization: `Bearer ${token}`, a: 'b' },
      },
    });
    expect(await results(client, TICKS)).toEqual(THREE_TICKS);
    expect(upstream.initPayloads.at(-1)).toEqual({ locale: 'de', headers: { a: 'b' } });
    expect(await results(client, '{ hello }')).toEqual([{ data: { hello: 'world' } }]);
    await client.dispose();
  });

  test('subscribes with the token in the Authorization header; the upstream gets the identity', async () => {
    const token = gateway.auth.issue({ accountId: 8, applicationId: 81 });
    gateway.account.entitle(8, { payer_id: 9 });
    const client = newerClient(
      {},
      { authorization: `Bearer ${token}`, 'x-account-id': '1', 'x-own': 'kept' },
    );
    expect(await results(client, TICKS)).toEqual(THREE_TICKS);
    const { headers, url } = upstream.requests.at(-1) ?? {};
    expect(url).toBe('/data/graphql');
    expect(headers).toMatchObject({
      'x-account-id': '8',
      'x-payer-id': '9',
      'x-application-id': '81',
      'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-/),
      'x-own': 'kept',
    });
    expect(headers).not.toHaveProperty('authorization');
    await client.dispose();
  });

  test('subscribes with ?token=, which is in no log and doesn’t reach the upstream', async () => {
    const token = gateway.auth.issue();
    const client = newerClient({ url: `${wsUrl()}?token=${token}&tenant=7` });
    expect(await results(client, TICKS)).toEqual(THREE_TICKS);
    expect(upstream.requests.at(-1)?.url).toBe('/data/graphql?tenant=7');
    expect(gateway.process.logs()).not.toContain(token.slice(-40));
    await client.dispose();
  });

  test('ends a subscription at the upstream, and only that one', async () => {
    const client = newerClient({ connectionParams: { token: gateway.auth.issue() } });
    const kept = client.iterate({ query: 'subscription { ticks(name: "kept") }' });
    const left = client.iterate({ query: 'subscription { ticks(name: "left") }' });
    await Promise.all([kept.next(), left.next()]);
    await left.return?.();
    await waitFor(() => upstream.ended.includes('left'));
    await kept.next();
    expect(upstream.ended).not.toContain('kept');
    await client.dispose();
    await waitFor(() => upstream.ended.includes('kept'));
  });
});

describe('the client of subscriptions-transport-ws', () => {
  test('subscribes and queries, with the token in its connectionParams', async () => {
    const token = gateway.auth.issue();
    const client = new SubscriptionClient(
      wsUrl(),
      { reconnect: false, connectionParams: { Authorization: `Bearer ${token}`, locale: 'fr' } },
      WebSocket,
    );
    const request = (query: string) =>
      new Promise<unknown[]>((resolve, reject) => {
        const seen: unknown[] = [];
        client.request({ query }).subscribe({
          next: (result) => seen.push(result),
          error: reject,
          complete: () => {
            resolve(seen);
          },
        });
      });
    expect(await request(TICKS)).toEqual(THREE_TICKS);
    expect(await request('{ hello }')).toEqual([{ data: { hello: 'world' } }]);
    expect(upstream.initPayloads.at(-1)).toEqual({ locale: 'fr' });
    client.close();
  });
});
