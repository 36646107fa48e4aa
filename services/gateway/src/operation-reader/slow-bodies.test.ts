import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Socket } from 'node:net';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { documentOf } from '../../test/suite/http-client.ts';
import { withLimits } from '../../test/suite/stand-ins.ts';
import { watchUpstream } from '../../test/suite/upstreams/watch-upstream.ts';

let gateway: GatewayUnderTest;
let nextAccount = 6_000;

beforeAll(async () => {
  gateway = await startGateway({
    env: { UPSTREAM_BODY_IDLE_TIMEOUT_MS: '600', REQUEST_BODY_TIMEOUT_MS: '1500' },
  });
});

afterAll(() => gateway.stop());

/** Sends a head and a part of its body, on an account with one session. */
function send(framing: string, part: string) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withLimits(accountId, { session_limit: 1 }));
  const token = gateway.auth.issue({ accountId });
  const { socket, received, closed } = connectRaw(gateway.graphqlUrl);
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n${part}`,
  );
  return { socket, token, accountId, closed, received };
}

function expectTimeout(answer: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  expect(head).toMatch(/^HTTP\/1\.1 408 /);
  expect(head).toMatch(/^connection: close$/im);
  expect(JSON.parse(body)).toMatchObject({ errors: [{ extensions: { code: 'request_timeout' } }] });
}

/** Sends a byte at a time, never so slowly that it would be idle. */
function trickle(socket: Socket, byte: string): void {
  const timer = setInterval(() => socket.write(byte), 100);
  socket.once('close', () => {
    clearInterval(timer);
  });
}

describe.each([
  ['small', 'Content-Length: 100', '{', ' '],
  ['long', 'Content-Length: 1000000', `{${' '.repeat(50_000)}`, ' '],
  ['chunked', 'Transfer-Encoding: chunked', '5\r\n{    \r\n', '1\r\n \r\n'],
])('a body that is %s', (_name, framing, part, byte) => {
  test('and stalls is 408, costs nothing, and takes neither a slot nor a connection meanwhile', async () => {
    const seen = watchUpstream(gateway);
    const { token, accountId, closed, received } = send(framing, part);
    await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 1);
    expect((await gateway.query({ token })).status).toBe(200);
    expect(await gateway.metric('tollgate_leases_held')).toBe(0);
    await closed;
    expectTimeout(received());
    expect(seen).toHaveLength(1);
    expect(await gateway.usage(1, accountId)).toMatchObject([{ requests: 1 }]);
  });

  test('and trickles on is 408 when its whole time is over', async () => {
    const { socket, closed, received } = send(framing, part);
    trickle(socket, byte);
    await closed;
    expectTimeout(received());
  });
});

test('a body that the upstream is slow to take is no fault of the caller', async () => {
  let bytes = 0;
  gateway.upstream((req, res) => {
    // Longer than a caller may be silent.
    setTimeout(() => {
      req.on('data', (chunk: Buffer) => (bytes += chunk.length)).once('end', () => res.end('{}'));
    }, 900);
  });
  const answer = await gateway.query({ body: documentOf(1_000_000) });
  expect([answer.status, bytes]).toEqual([200, 1_000_000]);
});
