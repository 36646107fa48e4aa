import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest, Handler } from '../../../../test/suite/gateway.ts';
import { begin, documentOf } from '../../../../test/suite/http-client.ts';
import { withLimits } from '../../../../test/suite/stand-ins.ts';
import { callsIn } from '../../../../test/suite/records/recorded-usage.ts';

let gateway: GatewayUnderTest;
let nextAccount = 4_000;
/** Calls that are at the upstream, in the order in which they came. */
const atUpstream: ServerResponse[] = [];

const HOLD: Handler = (req, res) => {
  req.resume().once('end', () => atUpstream.push(res));
};

beforeAll(async () => {
  gateway = await startGateway({
    env: { UPSTREAM_CONNECTIONS: '4', UPSTREAM_HEADERS_TIMEOUT_MS: '1500', DEFAULT_POINTS: '3' },
  });
});

afterEach(() => {
  for (const res of atUpstream.splice(0)) res.destroy();
});

afterAll(() => gateway.stop());

function customer(limits: Parameters<typeof withLimits>[1] = { session_limit: 1 }) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withLimits(accountId, limits));
  return { accountId, token: gateway.auth.issue({ accountId }) };
}

/** A call whose caller goes away once all of it is at the upstream. */
async function hangUp(token: string, body: string | Buffer = '{}'): Promise<ServerResponse> {
  gateway.upstream(HOLD);
  const earlier = atUpstream.length;
  const { request, answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${token}` },
    body,
  });
  answer.catch(() => undefined);
  const res = await waitFor(() => atUpstream[earlier]);
  // A caller that only closes could still read.
  request.socket?.resetAndDestroy();
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_abandoned')) === 1);
  return res;
}

/** Waits until no call is under way, and returns what is counted for an account. */
async function counted(accountId: number) {
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 0);
  await waitFor(async () => (await gateway.metric('tollgate_settlement_queue_events')) === 0);
  const events = await gateway.usage(0, accountId);
  return events.map(({ points, requests, traffic_bytes }) => ({ points, requests, traffic_bytes }));
}

test.each([
  ['a small body', '{}'],
  ['a long one', documentOf(100_000)],
])(
  'a request with %s that was sent in full keeps its slot and costs what its answer says',
  async (_name, body) => {
    const { accountId, token } = customer();
    const res = await hangUp(token, body);
    // The slot is taken, the upstream goes on, and nothing is counted yet.
    const refused = await gateway.query({ token });
    expect(refused.json()).toMatchObject({ errors: [{ extensions: { code: 'session_limit_exceeded' } }] });
    expect(res.closed).toBe(false);
    res.writeHead(200, { 'x-points': '50' }).end('{"data":{}}');
    expect(await counted(accountId)).toEqual([{ points: 50, requests: 1, traffic_bytes: 0 }]);
    gateway.upstream(answerOk);
    expect((await gateway.query({ token })).status).toBe(200);
  },
);

test('an answer without a price costs the default', async () => {
  const { accountId, token } = customer();
  (await hangUp(token)).end('{}');
  expect(await counted(accountId)).toEqual([{ points: 3, requests: 1, traffic_bytes: 0 }]);
});

test.each<[string, OutgoingHttpHeaders]>([
  ['a short one', { 'content-length': 100 }],
  ['a long one', { 'content-length': 100_000 }],
  ['one in chunks', { 'transfer-encoding': 'chunked' }],
  ['a stream', { 'content-type': 'text/event-stream' }],
])('its head is all of an answer that is waited for: %s', async (_name, headers) => {
  const { accountId, token } = customer();
  const res = await hangUp(token);
  const ended = once(res, 'close');
  res.writeHead(200, { ...headers, 'x-points': '7' }).write('part');
  await ended;
  expect(await counted(accountId)).toMatchObject([{ points: 7, requests: 1, traffic_bytes: 0 }]);
});

test.each<[string, (res: ServerResponse) => void]>([
  ['the connection is lost', (res) => res.destroy()],
  ['the upstream is silent', () => undefined],
])('where %s, nothing is counted and the slot is free', async (_name, act) => {
  const { accountId, token } = customer();
  act(await hangUp(token));
  expect(await counted(accountId)).toEqual([]);
  expect(await gateway.metric('tollgate_leases_held')).toBe(0);
  expect(await gateway.metric('tollgate_upstream_in_flight')).toBe(0);
});

test('hanging up gains nothing: the plan holds what is in flight and what it costs', async () => {
  const { accountId, token } = customer({ points_limit: 100, session_limit: 2 });
  const arrived = new Map<unknown, () => void>();
  let came = 0;
  let busy = 0;
  let mostBusy = 0;
  gateway.upstream((req, res) => {
    came += 1;
    arrived.get(req.headers['x-attempt'])?.();
    busy += 1;
    mostBusy = Math.max(mostBusy, busy);
    res.once('close', () => (busy -= 1));
    setTimeout(() => res.writeHead(200, { 'x-points': '50' }).end('{}'), 150);
  });
  let attempts = 0;
  /** Calls until the points are used up, and hangs up on each call as soon as it is at the upstream. */
  const caller = async () => {
    for (;;) {
      const attempt = String((attempts += 1));
      const atWork = new Promise((resolve) => {
        arrived.set(attempt, () => {
          resolve('at work');
        });
      });
      const { request, answer } = begin(gateway.graphqlUrl, {
        headers: { authorization: `Bearer ${token}`, 'x-attempt': attempt },
        body: '{}',
      });
      const refused = answer.then(
        (response) => response.resume().statusCode,
        () => undefined,
      );
      const status = await Promise.race([refused, atWork]);
      request.destroy();
      if (status === 402) return;
    }
  };
  await Promise.all(Array.from({ length: 6 }, caller));
  expect(mostBusy).toBe(2);
  // Two at most are in flight when the last point is used.
  expect(came).toBeLessThanOrEqual(3);
  const events = await counted(accountId).then(() => gateway.usage(came, accountId));
  expect(callsIn(events)).toBe(came);
  expect(events.reduce((sum, { points }) => sum + points, 0)).toBe(50 * came);
});
