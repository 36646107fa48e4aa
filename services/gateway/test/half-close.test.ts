import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway({});
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

/** A data call whose caller sends no more once `isTime`; all that comes back until the connection closes. */
async function halfClosed(fields: string, body: string, isTime: () => boolean): Promise<string> {
  const { socket, received, closed } = connectRaw(gateway.graphqlUrl);
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.auth.issue({ accountId: 7 })}\r\n` +
      `Content-Type: application/json\r\n${fields}\r\n\r\n${body}`,
  );
  await waitFor(isTime);
  socket.end();
  await closed;
  return received();
}

test.each([
  ['on the fast path', 'Content-Length: 2', '{}'],
  ['by node:http', 'Transfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'],
])(
  'a caller that half-closes gets the answer that it pays, whenever it does so (%s)',
  async (_way, fields, body) => {
    const before = (await gateway.usage(0, 7)).length;
    expect(await halfClosed(fields, body, () => true)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    let finish: (() => void) | undefined;
    gateway.upstream((req, res) => {
      req.resume();
      finish = () => res.writeHead(200, { 'x-points': '3' }).end('late');
    });
    const answer = halfClosed(fields, body, () => finish !== undefined);
    await waitFor(() => finish !== undefined);
    finish?.();
    expect(await answer).toMatch(/\r\n\r\n[^]*late/);
    expect(await gateway.usage(before + 2, 7)).toHaveLength(before + 2);
  },
);

test('an open stream ends when its caller sends no more, which may have left', async () => {
  let isOver = false;
  let isOpen = false;
  gateway.upstream((req, res) => {
    req.resume();
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: next\n\n');
    isOpen = true;
    res.once('close', () => (isOver = true));
  });
  await halfClosed('Content-Length: 2\r\nAccept: text/event-stream', '{}', () => isOpen);
  await waitFor(() => isOver);
});
