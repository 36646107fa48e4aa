import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { call } from '../../test/suite/http-client.ts';
import { startRealServices } from '../../test/suite/real-services.ts';
import type { Customer, RealServices } from '../../test/suite/real-services.ts';
import { startServer } from '../../test/suite/upstreams/server.ts';
import type { TestServer } from '../../test/suite/upstreams/server.ts';

const LITERAL = 'a literal';
const VALUE = 'a value';

let upstream: TestServer;
let services: RealServices;

beforeAll(async () => {
  upstream = await startServer((req, res) => {
    req.resume();
    req.once('end', () => {
      res.writeHead(200, { 'content-type': 'application/json', 'x-points': '7' }).end('{"data":{}}');
    });
  });
  services = await startRealServices({ gatewayEnv: { UPSTREAM_URL: `${upstream.url}/graphql` } });
});

afterAll(async () => {
  await services.stop();
  await upstream.close();
});

type Shown = {
  points_usage: number;
  requests_usage: number;
  operations: {
    name: string | null;
    document: string | null;
    points_usage: number;
    requests_usage: number;
    p50_ms: number | null;
  }[];
  others: { points_usage: number; requests_usage: number };
};

async function operationsOf({ token }: Customer): Promise<Shown> {
  const answer = await call(`${services.account.publicUrl}/api/usage/operations`, {
    method: 'GET',
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
  return answer.json() as Shown;
}

const bodyOf = (index: number) =>
  JSON.stringify({
    query: `query Q${String(index % 40)}($v: String) { a(text: "${LITERAL}-${String(index)}", v: $v) }`,
    variables: { v: VALUE },
  });

test('operations add up to the account’s usage over two gateways and kill -9', async () => {
  const customer = await services.newCustomer({ session_limit: 100 });
  const headers = { authorization: `Bearer ${customer.token}`, 'content-type': 'application/json' };
  const [doomed, other] = services.gateways;
  let answered = 0;
  let isOver = false;
  const worker = async (gateway: { publicUrl: string }) => {
    for (let index = 0; !isOver; index += 1) {
      const answer = await call(`${gateway.publicUrl}/graphql`, { headers, body: bodyOf(index) }).catch(
        () => null,
      );
      if (answer?.status === 200) answered += 1;
    }
  };
  const workers = [doomed, doomed, doomed, other, other].map(worker);
  await waitFor(() => answered > 300);
  await doomed.kill();
  await waitFor(() => answered > 500);
  isOver = true;
  await Promise.all(workers);
  await services.allCounted();

  const shown = await operationsOf(customer);
  const { usage } = (await services.usage(customer)).billing_period;
  expect(shown).toMatchObject({
    points_usage: usage.points_usage,
    requests_usage: usage.requests_usage,
    // All calls are of known operations.
    others: { points_usage: 0, requests_usage: 0 },
  });
  expect(usage.requests_usage).toBeGreaterThanOrEqual(answered);
  const sum = (field: 'points_usage' | 'requests_usage') =>
    shown.operations.reduce((total, operation) => total + operation[field], 0);
  expect([sum('points_usage'), sum('requests_usage')]).toEqual([usage.points_usage, usage.requests_usage]);
  expect(shown.operations).toHaveLength(40);
  const operation = shown.operations.find(({ name }) => name === 'Q7');
  expect(operation?.document).toBe('query Q7($v: String) {\n  a(text: "", v: $v)\n}');
  expect(operation?.p50_ms).toBeGreaterThan(0);
});
