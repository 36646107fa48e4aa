import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { obtainToken, postGraphql, postToken, tokenFields } from '../caller.ts';
import { newCustomer } from '../load/customer.ts';
import type { Demo, Stack } from '../stack/stack.ts';

const QUERY = '{ country(code: "CH") { name } }';
const SUBSCRIPTION = 'subscription { countryOfTheMoment(intervalMs: 60000) { name } }';

/** As many connections as a gateway has by default to auth, to account, and to the upstream. */
const CONNECTIONS = 256;
const MORE = 300;

/** So many that each has fewer open requests than an address may have. */
const ADDRESSES = 6;

/** A token request whose body doesn't arrive, once the gateway has asked for it. */
async function slowTokenRequest(demo: Demo, number: number): Promise<Socket> {
  const { hostname: host, port } = new URL(demo.streaming_url);
  const localAddress = `127.0.0.${String(2 + (number % ADDRESSES))}`;
  const socket = connect({ host, port: Number(port), localAddress });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    'POST /oauth2/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n' +
      'Expect: 100-continue\r\nContent-Length: 200\r\n\r\n',
  );
  await once(socket, 'data');
  socket.write('g');
  return socket;
}

async function openStream(demo: Demo, token: string): Promise<{ sent: ClientRequest; status: number }> {
  const sent = request(`${demo.streaming_url}/graphql`, {
    method: 'POST',
    agent: false,
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    },
  });
  sent.on('error', () => undefined).end(JSON.stringify({ query: SUBSCRIPTION }));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined).resume();
  return { sent, status: answer.statusCode ?? 0 };
}

/** What callers share is never held by slow ones, nor all of it by one of them (docs/design/forwarding.md). */
export function fairShares(stack: () => Stack): void {
  describe('what callers share', () => {
    test('bodies that do not arrive keep no caller from a token', async () => {
      const { demo } = stack();
      const slow = await Promise.all(
        Array.from({ length: MORE }, (_, number) => slowTokenRequest(demo, number)),
      );
      try {
        const granted = await postToken(demo.streaming_url, tokenFields(demo.application));
        const page = await fetch(`${demo.streaming_url}/user`);
        expect([granted.status, page.status]).toEqual([200, 200]);
        // Not only once these were given up.
        expect(slow.filter(({ readyState }) => readyState !== 'open')).toEqual([]);
      } finally {
        for (const socket of slow) socket.destroy();
      }
    });

    test('one customer’s open event streams leave the upstream to the others', async () => {
      const { demo } = stack();
      const { token } = await newCustomer(demo, 'streams');
      const streams: ClientRequest[] = [];
      try {
        const statuses = new Set<number>();
        while (streams.length < CONNECTIONS + 8) {
          const opened = await Promise.all(Array.from({ length: 24 }, () => openStream(demo, token)));
          for (const { sent, status } of opened) {
            streams.push(sent);
            statuses.add(status);
          }
        }
        expect([...statuses]).toEqual([200]);
        const other = await obtainToken(demo, demo.application);
        const answer = await postGraphql(demo, other, QUERY);
        expect(answer.status).toBe(200);
        await answer.arrayBuffer();
        expect(streams.filter(({ destroyed }) => destroyed)).toEqual([]);
      } finally {
        for (const stream of streams) stream.destroy();
      }
    });
  });
}
