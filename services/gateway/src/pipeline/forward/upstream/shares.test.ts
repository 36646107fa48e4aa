import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import { begin, call } from '../../../../test/suite/http-client.ts';

/**
 * What payers share of a gateway's way to the upstream: connections for calls, and streams (docs/design/forwarding.md).
 */

const CONNECTIONS = 4;
const STREAMS = 8;
const STREAMS_PER_PAYER = 6;
const ONE = 7;
const OTHER = 8;
const THIRD = 9;
const TYPES: Record<string, string> = {
  'text/event-stream': 'text/event-stream',
  'multipart/mixed;subscriptionSpec="1.0"': 'multipart/mixed; boundary="-"; subscriptionSpec="1.0"',
};

let gateway: GatewayUnderTest;
let streams: IncomingMessage[];
let atUpstream: ServerResponse[];

beforeEach(async () => {
  streams = [];
  atUpstream = [];
  gateway = await startGateway({
    env: {
      UPSTREAM_CONNECTIONS: String(CONNECTIONS),
      UPSTREAM_CONNECTIONS_PER_PAYER: '3',
      UPSTREAM_STREAMS: String(STREAMS),
      UPSTREAM_STREAMS_PER_PAYER: String(STREAMS_PER_PAYER),
      UPSTREAM_CONNECT_TIMEOUT_MS: '1000',
    },
  });
});

afterEach(async () => {
  for (const stream of streams) stream.destroy();
  await gateway.stop();
});

const tokenOf = (accountId: number) => gateway.auth.issue({ accountId });

function streamFrom(type = 'text/event-stream'): void {
  gateway.upstream((req, res) => {
    req.resume().once('end', () => {
      res.writeHead(200, { 'content-type': type }).flushHeaders();
      atUpstream.push(res);
    });
  });
}

const SUBSCRIPTION = '{"query":"subscription { a }"}';
/** Its type is unknown until it is answered. */
const AMBIGUOUS = '{"query":"query A { a } subscription B { a }"}';

async function open(accountId: number, accept: string, body = SUBSCRIPTION): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${tokenOf(accountId)}`, accept };
  const answer = await begin(gateway.graphqlUrl, { headers, body }).answer;
  answer.on('error', () => undefined);
  streams.push(answer);
  return answer;
}

const statusesOf = (answers: IncomingMessage[]) => answers.map(({ statusCode }) => statusCode);

test.each(Object.entries(TYPES))(
  'streams of %s hold none of the connections of calls',
  async (accept, type) => {
    streamFrom(type);
    const answers = [];
    for (let number = 0; number < STREAMS_PER_PAYER; number += 1) answers.push(await open(ONE, accept));
    expect(new Set(statusesOf(answers))).toEqual(new Set([200]));
    gateway.upstream(answerOk);
    for (const accountId of [ONE, OTHER]) {
      const { status } = await gateway.query({ token: tokenOf(accountId) });
      expect(status).toBe(200);
    }
  },
);

test('a payer has its number of streams, and so has the gateway; both come back', async () => {
  const accept = 'text/event-stream';
  streamFrom();
  for (let number = 0; number < STREAMS_PER_PAYER; number += 1) await open(ONE, accept);
  const headers = { authorization: `Bearer ${tokenOf(ONE)}`, accept };
  const refused = await call(gateway.graphqlUrl, { headers, body: SUBSCRIPTION });
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
  expect(refused.json()).toMatchObject({ errors: [{ extensions: { code: 'too_many_streams' } }] });
  expect(refused.headers['x-points-cost']).toBe('0');
  for (let number = STREAMS_PER_PAYER; number < STREAMS; number += 1) {
    expect((await open(OTHER, accept)).statusCode).toBe(200);
  }
  const full = await open(THIRD, accept);
  expect([full.statusCode, full.headers['retry-after']]).toEqual([503, '1']);
  streams[0]?.destroy();
  atUpstream[1]?.end();
  await waitFor(async () => (await open(ONE, accept)).statusCode === 200);
  await waitFor(async () => (await open(ONE, accept)).statusCode === 200);
});

test('a stream that the upstream chose has a slot as well, or is refused', async () => {
  const accept = 'application/json';
  streamFrom();
  const answers = [];
  for (let number = 0; number <= STREAMS_PER_PAYER; number += 1)
    answers.push(await open(ONE, accept, AMBIGUOUS));
  expect(statusesOf(answers)).toEqual([...Array<number>(STREAMS_PER_PAYER).fill(200), 429]);
  gateway.upstream(answerOk);
  expect((await gateway.query({ token: tokenOf(OTHER) })).status).toBe(200);
});

test('one payer’s slow calls leave connections to the others', async () => {
  const held: ServerResponse[] = [];
  gateway.upstream((req, res) => {
    req.resume().once('end', () => held.push(res));
  });
  const headers = { authorization: `Bearer ${tokenOf(ONE)}` };
  const slow = Array.from({ length: 4 }, () => begin(gateway.graphqlUrl, { headers, body: '{}' }).answer);
  await waitFor(() => held.length === 3);
  gateway.upstream(answerOk);
  expect((await gateway.query({ token: tokenOf(OTHER) })).status).toBe(200);
  // Its fourth one waits for as long as calls wait for a connection.
  const [first] = await Promise.all([Promise.any(slow)]);
  expect(first.statusCode).toBe(503);
  for (const res of held) res.end('{}');
  for (const answer of await Promise.all(slow)) {
    answer.resume();
    if (!answer.complete) await once(answer, 'end');
  }
});
