import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { begin, call } from '../../test/suite/http-client.ts';
import { startRecordingStandIn } from '../../test/suite/recording-stand-in.ts';
import type { RecordingStandIn } from '../../test/suite/recording-stand-in.ts';

/** The live feed of usage, which account serves and the gateway passes on. */

const PATH = '/api/console/usage/live';
const TIMEOUT_MS = 300;

let gateway: GatewayUnderTest | undefined;
let account: RecordingStandIn | undefined;

afterEach(async () => {
  await gateway?.stop();
  await account?.goAway();
});

async function start() {
  account = await startRecordingStandIn('account', []);
  const { url } = account;
  gateway = await startGateway({
    publicUrls: { auth: url, account: url },
    env: { PLAIN_ROUTE_TIMEOUT_MS: String(TIMEOUT_MS), SHUTDOWN_DELAY_MS: '0' },
  });
  return { gateway, account };
}

/** A feed through the gateway; `atAccount` is account's end of it. */
async function follow(url: string, standIn: RecordingStandIn) {
  const reached = Promise.withResolvers<ServerResponse>();
  standIn.answers((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('one\n\n');
    reached.resolve(res);
  });
  const response = await begin(`${url}${PATH}`, { method: 'GET' }).answer;
  let text = '';
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  response.on('error', () => undefined);
  return { response, atAccount: await reached.promise, text: () => text };
}

test('streams, outlasts the timeout of other routes, and is not observed as a request', async () => {
  const { gateway: own, account: standIn } = await start();
  const { publicUrl } = own.process;
  const feed = await follow(publicUrl, standIn);
  await waitFor(() => feed.text() === 'one\n\n');
  const sinceMs = performance.now();
  await waitFor(() => performance.now() - sinceMs > TIMEOUT_MS * 2);
  feed.atAccount.write('two\n\n');
  await waitFor(() => feed.text() === 'one\n\ntwo\n\n');
  feed.response.destroy();
  await once(feed.atAccount, 'close');
  standIn.answers(null);
  await call(`${publicUrl}/api/usage`, { method: 'GET' });
  expect(await own.metric('tollgate_http_request_duration_seconds_count', { method: 'GET' })).toBe(1);
});

test('ends when the gateway shuts down, which it does not delay', async () => {
  const { gateway: own, account: standIn } = await start();
  const feed = await follow(own.process.publicUrl, standIn);
  await waitFor(() => feed.text() === 'one\n\n');
  const ended = once(feed.response, 'end');
  const closedAtAccount = once(feed.atAccount, 'close');
  const stopped = own.process.stop();
  await Promise.all([ended, closedAtAccount, stopped]);
  // What delays a shutdown is cut off.
  expect(feed.response.complete).toBe(true);
});
