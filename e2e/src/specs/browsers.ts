import { describe, expect, test } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { obtainToken } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

const PAGE = 'https://app.example';
const QUERY = JSON.stringify({ query: '{ country(code: "JP") { name } }' });

/** What a browser asks before it lets a page call. */
function preflight(url: string, method: string): Promise<Response> {
  return fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin: PAGE,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
    },
  });
}

function permissions({ status, headers }: Response) {
  return {
    status,
    origin: headers.get('access-control-allow-origin'),
    headers: headers.get('access-control-allow-headers'),
    credentials: headers.get('access-control-allow-credentials'),
    isKept: Number(headers.get('access-control-max-age')) > 0,
  };
}

/** Applications in a browser, served from an origin of their own. */
export function browsers(stack: () => Stack): void {
  describe('a page of another origin', () => {
    test('may call the data endpoint, and read the answer, the refusal and where it stands', async () => {
      const { demo } = stack();
      const url = `${demo.streaming_url}/graphql`;
      expect(permissions(await preflight(url, 'POST'))).toEqual({
        status: 204,
        origin: '*',
        headers: 'authorization,content-type',
        credentials: null,
        isKept: true,
      });
      const token = await obtainToken(demo, demo.application);
      for (const [authorization, status] of [
        [`Bearer ${token}`, 200],
        ['Bearer wrong', 401],
      ] as const) {
        const headers = { origin: PAGE, authorization, 'content-type': 'application/json' };
        const answer = await fetch(url, { method: 'POST', headers, body: QUERY });
        await answer.arrayBuffer();
        expect(answer.status).toBe(status);
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
        expect(answer.headers.get('access-control-expose-headers')?.split(', ')).toEqual(
          expect.arrayContaining(['X-Points-Remaining', 'X-Request-Id', 'RateLimit']),
        );
      }
    });

    test('may read its usage, at the gateway and at account', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      for (const base of [demo.streaming_url, demo.account_url]) {
        const url = `${base}/api/usage`;
        expect(permissions(await preflight(url, 'GET'))).toMatchObject({ status: 204, origin: '*' });
        const answer = await fetch(url, { headers: { origin: PAGE, authorization: `Bearer ${token}` } });
        await answer.arrayBuffer();
        expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
      }
    });

    test('may open a WebSocket, and gets no token for a client secret', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      class FromPage extends WebSocket {
        constructor(url: string, protocols: string) {
          super(url, protocols, { origin: PAGE });
        }
      }
      const url = `${demo.streaming_url.replace('http', 'ws')}/graphql`;
      const client = createClient({ url, webSocketImpl: FromPage, connectionParams: { token } });
      const seen: unknown[] = [];
      for await (const result of client.iterate({ query: '{ country(code: "JP") { name } }' })) {
        seen.push(result);
      }
      await client.dispose();
      expect(seen).toMatchObject([{ data: { country: { name: 'Japan' } } }]);
      const { client_id, client_secret } = demo.application;
      const asked = await fetch(`${demo.auth_url}/oauth2/token`, {
        method: 'POST',
        headers: { origin: PAGE },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          scope: 'api',
          client_id,
          client_secret,
        }),
      });
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    });
  });
}
