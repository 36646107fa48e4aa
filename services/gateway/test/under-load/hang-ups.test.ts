import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { waitFor } from '@tollgate/stack/wait-for';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { countedUsage } from '../suite/records/billing-records.ts';
import { begin, documentOf } from '../suite/http-client.ts';
import { metricOf } from '../suite/metric.ts';
import { startRealServices } from '../suite/real-services.ts';
import type { Customer, RealServices } from '../suite/real-services.ts';
import { startServer } from '../suite/upstreams/server.ts';
import type { TestServer } from '../suite/upstreams/server.ts';
import { leasesKey } from '../../src/ledger/keys.ts';

const CALLERS = 1_000;
const AT_A_TIME = 50;
/** After the upstream's response, whose head comes after 10 ms and whose last part after 50. */
const LAST_HANG_UP_MS = 60;
/** Of both gateways to the upstream: so few that a handful of leaked ones would show. */
const CONNECTIONS = 40;

let upstream: TestServer;
let services: RealServices;
let customer: Customer;
let came = 0;
/** Responses in progress, and whether the upstream holds its responses back. */
const busy = new Set<ServerResponse>();
let holds = false;

beforeAll(async () => {
  upstream = await startServer((req, res) => {
    came += 1;
    busy.add(res);
    res.once('close', () => busy.delete(res));
    if (holds) return;
    req.resume().once('end', () => {
      answerInParts(res, req.headers.accept === 'text/event-stream' ? 'text/event-stream' : 'text/plain');
    });
  });
  services = await startRealServices({
    gatewayEnv: { UPSTREAM_URL: `${upstream.url}/graphql`, UPSTREAM_CONNECTIONS: String(CONNECTIONS / 2) },
  });
  customer = await services.newCustomer({ session_limit: CALLERS, subscription_limit: CALLERS });
});

afterAll(async () => {
  await services.stop();
  await upstream.close();
});

/** The head after 10 ms, then a part every 10 ms, until the caller is gone or the response is complete. */
function answerInParts(res: ServerResponse, type: string): void {
  let parts = 0;
  const timer = setInterval(() => {
    if (parts === 0) res.writeHead(200, { 'content-type': type });
    parts += 1;
    if (parts === 5) res.end('last');
    else res.write('part');
  }, 10);
  res.once('close', () => {
    clearInterval(timer);
  });
}

/** A caller that hangs up: before its body is sent, before the response, during it, or after it. */
async function hangUp(index: number): Promise<boolean> {
  const { publicUrl } = services.gateways[(index >> 1) % 2] as ServiceProcess;
  const body = documentOf(1_000);
  const { request, answer } = begin(`${publicUrl}/graphql`, {
    headers: {
      authorization: `Bearer ${customer.token}`,
      // A third asks for a stream, and a third never sends all of its announced body.
      ...(index % 3 === 0 ? { accept: 'text/event-stream' } : {}),
      ...(index % 3 === 1 ? { 'content-length': 2_000 } : {}),
    },
    body,
  });
  request.on('error', () => undefined);
  let isWhole = false;
  const head = answer.then(
    (response) =>
      response
        .on('error', () => undefined)
        .once('end', () => {
          isWhole = response.complete && response.statusCode === 200;
        })
        .resume(),
    () => undefined,
  );
  // Half wait for the head first, so that the hang-ups are spread over the response on any machine.
  if (index % 2 === 0 && index % 3 !== 1) await head;
  await new Promise((resolve) => setTimeout(resolve, Math.random() * LAST_HANG_UP_MS));
  request.destroy();
  return isWhole;
}

const everywhere = async (name: string) =>
  (await Promise.all(services.gateways.map((gateway) => metricOf(gateway, name)))).reduce(
    (sum, one) => sum + one,
  );

test('1,000 callers who hang up at random moments leave no call, no connection and no lease behind', async () => {
  let whole = 0;
  let begun = 0;
  const callers = async () => {
    while (begun < CALLERS) {
      begun += 1;
      if (await hangUp(begun)) whole += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, callers));
  await waitFor(async () => (await everywhere('tollgate_data_calls_in_flight')) === 0);
  await waitFor(async () => (await everywhere('tollgate_upstream_in_flight')) === 0);
  await waitFor(() => busy.size === 0, { what: 'the upstream to be idle' });
  const slots = async () => {
    const { accountId } = customer;
    const keys = [leasesKey('calls', accountId), leasesKey('subscriptions', accountId)];
    return Promise.all(keys.map((key) => services.store.zcard(key)));
  };
  // Sooner than leases expire, so these were released.
  await waitFor(async () => (await slots()).every((count) => count === 0));
  expect(await everywhere('tollgate_leases_held')).toBe(0);

  await services.allCounted();
  const { totals } = await countedUsage(services.databaseUrl);
  const counted = totals.get(customer.periodId)?.requests ?? 0;
  expect(counted).toBeGreaterThanOrEqual(whole);
  expect(counted).toBeLessThanOrEqual(came);
  process.stdout.write(
    `${String(CALLERS)} callers hung up; ${String(came)} calls came to the upstream, ${String(whole)} were seen whole, ${String(counted)} counted\n`,
  );
  expect(whole).toBeLessThan(came);
});

test('and every connection can be used at once', async () => {
  holds = true;
  const calls = Array.from({ length: CONNECTIONS }, (_, index) => {
    const { publicUrl } = services.gateways[index % 2] as ServiceProcess;
    const headers = { authorization: `Bearer ${customer.token}` };
    return begin(`${publicUrl}/graphql`, { headers, body: '{}' }).answer;
  });
  await waitFor(() => busy.size === CONNECTIONS, { what: 'all calls to be at the upstream' });
  for (const res of busy) res.end('{}');
  const statuses = (await Promise.all(calls)).map((answer) => answer.resume().statusCode);
  expect(new Set(statuses)).toEqual(new Set([200]));
});
