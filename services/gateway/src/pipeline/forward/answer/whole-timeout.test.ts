import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { begin } from '../../../../test/suite/http-client.ts';
import { callsIn } from '../../../../test/suite/records/recorded-usage.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway({ env: { UPSTREAM_WHOLE_TIMEOUT_MS: '400' } });
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

/** An upstream that never stops answering; resolves when its answer was ended for it. */
function endlessAnswer(contentType: string): Promise<void> {
  return new Promise((resolve) => {
    gateway.upstream((req, res) => {
      req.resume();
      res.writeHead(200, { 'content-type': contentType, 'x-points': '3' });
      const timer = setInterval(() => res.write('x'.repeat(10)), 20);
      res.once('close', () => {
        clearInterval(timer);
        resolve();
      });
    });
  });
}

function start(accountId: number) {
  return begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${gateway.auth.issue({ accountId })}` },
    body: '{}',
  });
}

test('an exchange without an answer: 504, it costs nothing, and the upstream call is ended', async () => {
  const ended = new Promise((resolve) => {
    gateway.upstream((req, res) => {
      req.resume();
      res.once('close', resolve);
    });
  });
  const before = callsIn(await gateway.usage(0));
  const answer = await gateway.query();
  expect(answer.status).toBe(504);
  expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'upstream_timeout' } }] });
  await ended;
  expect(callsIn(await gateway.usage(before))).toBe(before);
});

test('an answer that does not come to its end: it is cut, and what was sent is settled', async () => {
  const before = callsIn(await gateway.usage(0));
  const ended = endlessAnswer('text/plain');
  const response = await start(801).answer;
  response.on('error', () => undefined);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => (bytes += chunk.length));
  // Not `once`: the cut is an error of the response as well.
  await new Promise((resolve) => response.once('close', resolve));
  expect(response.complete).toBe(false);
  await ended;
  const usage = await gateway.usage(before + 1);
  const mine = usage.filter(({ account_id }) => account_id === 801);
  expect(mine).toMatchObject([{ points: 3, requests: 1 }]);
  expect(mine[0]?.traffic_bytes).toBeGreaterThanOrEqual(bytes);
});

test.each(['text/event-stream', 'multipart/mixed; boundary="-"; subscriptionSpec=1.0'])(
  'a stream lives on: %s',
  async (contentType) => {
    const ended = endlessAnswer(contentType);
    const { request, answer } = start(802);
    const response = await answer;
    let chunks = 0;
    response.on('data', () => (chunks += 1));
    // 20 ms apart: far more time than any other answer has.
    await waitFor(() => chunks >= 40);
    expect(response.destroyed).toBe(false);
    response.on('error', () => undefined);
    request.destroy();
    await ended;
  },
);
