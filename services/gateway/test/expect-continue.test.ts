import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { documentOf, sendRaw } from './suite/http-client.ts';
import { startRecordingStandIn } from './suite/recording-stand-in.ts';
import type { RecordingStandIn, Seen } from './suite/recording-stand-in.ts';
import { watchUpstream } from './suite/upstreams/watch-upstream.ts';

let gateway: GatewayUnderTest;
let standIn: RecordingStandIn;
const seenByStandIn: Seen[] = [];

beforeAll(async () => {
  standIn = await startRecordingStandIn('stand-in', seenByStandIn);
  gateway = await startGateway({
    env: { MAX_REQUEST_BODY_BYTES: '100000' },
    publicUrls: { auth: standIn.url, account: standIn.url },
  });
});

afterAll(async () => {
  await gateway.stop();
  await standIn.goAway();
});

function head(fields: string, path = '/graphql', token = gateway.auth.issue()): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
    `Expect: 100-continue\r\n${fields}\r\n\r\n`
  );
}

function statusLines(answer: string): string[] {
  return answer.match(/HTTP\/1\.1 \d{3}/g) ?? [];
}

test.each([
  ['a small body', 2],
  ['a long body', 50_000],
])('%s is asked for, and the connection is kept', async (_name, bytes) => {
  const seen = watchUpstream(gateway);
  const one = `${head(`Content-Length: ${String(bytes)}`)}${documentOf(bytes).toString()}`;
  expect(statusLines(await sendRaw(gateway.graphqlUrl, one + one))).toEqual([
    'HTTP/1.1 100',
    'HTTP/1.1 200',
    'HTTP/1.1 100',
    'HTTP/1.1 200',
  ]);
  expect(seen.map(({ body, headers }) => [body.length, headers.expect])).toEqual([
    [bytes, undefined],
    [bytes, undefined],
  ]);
});

test('a call that is refused by its head is not asked for its body, and its connection ends', async () => {
  const seen = watchUpstream(gateway);
  for (const [request, status] of [
    [head('Content-Length: 2', '/graphql', 'unknown'), 401],
    [head('Content-Length: 100001'), 413],
  ] as const) {
    const answer = await sendRaw(gateway.graphqlUrl, request);
    expect(statusLines(answer)).toEqual([`HTTP/1.1 ${String(status)}`]);
    expect(answer).toMatch(/^connection: close$/im);
  }
  expect(seen).toEqual([]);
});

test('a plain route asks for the body at once', async () => {
  const answer = await sendRaw(gateway.graphqlUrl, `${head('Content-Length: 2', '/user/x')}{}`);
  expect(statusLines(answer)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
  expect(seenByStandIn.map(({ body }) => body)).toEqual(['{}']);
});

test('an expectation that nobody knows is passed over', async () => {
  watchUpstream(gateway);
  const request = head('Content-Length: 2').replace('100-continue', 'miracles');
  expect(statusLines(await sendRaw(gateway.graphqlUrl, `${request}{}`))).toEqual(['HTTP/1.1 200']);
});
