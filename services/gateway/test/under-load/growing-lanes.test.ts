import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { usageLanesKey, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { serviceCredential, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { openCaller, startMeteredUpstream } from '../suite/load/load.ts';
import type { Caller, MeteredUpstream } from '../suite/load/load.ts';
import { countedUsage } from '../suite/records/billing-records.ts';
import { startRealServices } from '../suite/real-services.ts';
import type { Customer, RealServices } from '../suite/real-services.ts';

/**
 * Two gateways whose customers call all the time, while lanes are added: no call is refused or counted otherwise, and no
 * limit is exceeded.
 */
const CUSTOMERS = 6;
/** Of one point each. */
const LIMIT = 400;

let upstream: MeteredUpstream;
let services: RealServices;
let caller: Caller;
let further: ServiceProcess[] = [];

beforeAll(async () => {
  upstream = await startMeteredUpstream(() => 1);
  services = await startRealServices({ gatewayEnv: { UPSTREAM_URL: upstream.url } });
  caller = openCaller(services.gateways, CUSTOMERS + 1);
});

afterAll(async () => {
  await caller.close();
  await Promise.all(further.map((replica) => replica.stop()));
  await services.stop();
  await upstream.close();
});

async function askFor(lanes: number): Promise<ServiceProcess> {
  const replica = await startServiceProcess('account', {
    REDIS_URL: services.redis.url,
    DATABASE_URL: services.databaseUrl,
    AUTH_PRIVATE_URL: services.auth.privateUrl,
    OPERATOR_CREDENTIALS: `${serviceCredential.id}:${serviceCredential.secret}`,
    USAGE_LANES: String(lanes),
  });
  further.push(replica);
  return replica;
}

const told = (lanes: number) =>
  waitFor(async () => (await services.store.get(usageLanesKey(lanes - 1))) === String(lanes), {
    what: `${String(lanes)} lanes`,
  });

test('lanes are added while customers call, also where a process that adds them is killed', async () => {
  const customers: Customer[] = [];
  for (let made = 0; made < CUSTOMERS; made += 1) customers.push(await services.newCustomer({}));
  const limited = await services.newCustomer({ points_limit: LIMIT });
  const answered = new Map<Customer, number>([...customers, limited].map((one) => [one, 0]));
  const otherwise: unknown[] = [];
  let nextId = 1;
  let over = false;
  const call = async (customer: Customer) => {
    const id = (nextId += 1);
    const { status, code } = await caller.call(id, customer.token);
    if (status === 200) answered.set(customer, (answered.get(customer) ?? 0) + 1);
    else if (customer !== limited || status !== 402) otherwise.push({ status, code });
  };
  const callers = [...customers, limited].map(async (customer) => {
    while (!over) await call(customer);
  });
  await waitFor(() => [...answered.values()].every((calls) => calls > 20));

  const first = await askFor(4);
  await told(4);
  await first.kill();
  further = [];
  await askFor(16);
  await told(16);
  const before = new Map(answered);
  await waitFor(
    () =>
      customers.every((one) => (answered.get(one) ?? 0) > (before.get(one) ?? 0) + 50) &&
      answered.get(limited) === LIMIT,
  );
  over = true;
  await Promise.all(callers);

  expect(otherwise).toEqual([]);
  await services.allCounted();
  const { totals } = await countedUsage(services.databaseUrl);
  for (const [{ periodId }, calls] of answered) {
    expect(totals.get(periodId)).toMatchObject({ points: calls, requests: calls });
  }
  expect(answered.get(limited)).toBe(LIMIT);
  // Streams that none of these lanes had before.
  const used = customers.filter(({ accountId }) => accountId % 16 !== 0);
  expect(used.length).toBeGreaterThan(0);
  for (const { accountId } of used) {
    expect(await services.store.exists(usageStreamKey(accountId % 16))).toBe(1);
  }
});
