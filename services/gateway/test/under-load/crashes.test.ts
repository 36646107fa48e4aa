import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startPostgres } from '@tollgate/testbed/postgres';
import type { OwnPostgres } from '@tollgate/testbed/postgres';
import { countedUsage } from '../suite/records/billing-records.ts';
import { amountsTo } from '../suite/load/amounts-to.ts';
import { openCaller, startMeteredUpstream } from '../suite/load/load.ts';
import type { MeteredUpstream, Seen } from '../suite/load/load.ts';
import { startRealServices } from '../suite/real-services.ts';
import type { Customer, RealServices } from '../suite/real-services.ts';

/** Each with an account of its own, so that usage is in as many streams and can be told apart. */
const CALLERS = 12;
/** Responses for every caller before, during and after an outage. */
const CALLS = 15;
const PAUSE_MS = 20;

let postgres: OwnPostgres;
let upstream: MeteredUpstream;
let services: RealServices;
let nextId = 0;

beforeAll(async () => {
  postgres = await startPostgres();
  // Distinct, and without a pattern by which some could add up to others.
  upstream = await startMeteredUpstream((id) => 1 + ((id * 7_919) % 1_000_003));
  services = await startRealServices({
    gatewayEnv: { UPSTREAM_URL: upstream.url },
    databaseUrl: postgres.url,
  });
});

afterAll(async () => {
  await services.stop();
  await Promise.all([upstream.close(), postgres.stop()]);
});

type Load = {
  /** What each caller has seen so far. */
  seen: ReadonlyMap<Customer, Seen[]>;
  /** Waits until every caller has had CALLS more responses. */
  goesOn: () => Promise<void>;
  /** Waits until one more call fails. */
  isFelt: () => Promise<void>;
  stop: () => Promise<void>;
};

const answeredOf = (seen: readonly Seen[]) => seen.filter(({ status }) => status === 200);

/** Callers that call without a pause until they are stopped, and retry at once without a response. */
async function startLoad(): Promise<Load> {
  const limits = { points_limit: 1_000_000_000, session_limit: 50, rate_limit: 1_000_000 };
  const customers = await Promise.all(Array.from({ length: CALLERS }, () => services.newCustomer(limits)));
  const seen = new Map(customers.map((customer) => [customer, [] as Seen[]]));
  const { call, close } = openCaller(services.gateways, CALLERS);
  let over = false;
  const running = [...seen].map(async ([{ token }, own]) => {
    while (!over) {
      nextId += 1;
      const one = await call(nextId, token);
      own.push(one);
      if (one.status !== 200) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  });
  const failures = () => [...seen.values()].flat().filter(({ status }) => status !== 200).length;
  return {
    seen,
    goesOn: async () => {
      const wanted = [...seen.values()].map((own) => ({ own, count: answeredOf(own).length + CALLS }));
      await waitFor(() => wanted.every(({ own, count }) => answeredOf(own).length >= count), {
        what: 'every caller to be answered again',
      });
    },
    isFelt: async () => {
      const before = failures();
      await waitFor(() => failures() > before, { what: 'a call without an answer' });
    },
    stop: async () => {
      over = true;
      await Promise.all(running);
      await close();
    },
  };
}

/** Postgres has exactly the calls with complete responses, and each other one that the upstream served at most once. */
async function expectExactUsage(name: string, { seen }: Load): Promise<void> {
  await services.allCounted();
  const { totals, hourly, unassigned } = await countedUsage(services.databaseUrl);
  expect(unassigned).toBe(0);
  let [answers, uncertain, counted] = [0, 0, 0];
  for (const [{ periodId }, own] of seen) {
    const answered = answeredOf(own);
    const unseen = own
      .filter(({ status }) => status !== 200)
      .flatMap(({ id }) => upstream.served.get(id) ?? []);
    const total = totals.get(periodId) ?? { points: 0, requests: 0, traffic_bytes: 0 };
    expect(hourly.get(periodId)).toEqual(total);
    expect(amountsTo(total, answered, unseen)).toBe(true);
    answers += answered.length;
    uncertain += unseen.length;
    counted += total.requests - answered.length;
  }
  process.stdout.write(
    `${name}: ${String(answers)} calls answered and counted; ${String(uncertain)} served without a complete answer, ${String(counted)} of them counted\n`,
  );
}

type Part = { kill: () => Promise<void>; stop: () => Promise<unknown>; restart: () => Promise<void> };

const PARTS: { what: string; part: () => Part; isNeeded: boolean }[] = [
  { what: 'a gateway', part: () => services.gateways[0], isNeeded: true },
  { what: 'account', part: () => services.account, isNeeded: false },
  { what: 'auth', part: () => services.auth, isNeeded: false },
  { what: 'Redis', part: () => services.redis, isNeeded: true },
  { what: 'Postgres', part: () => postgres, isNeeded: false },
];

/** Calls before, during and after an outage. While a part is away that isn't needed, calls go on from caches. */
async function throughAnOutage(load: Load, end: () => Promise<unknown>, part: Part, isNeeded: boolean) {
  await load.goesOn();
  const during = isNeeded ? load.isFelt() : load.goesOn();
  await end();
  await during;
  await part.restart();
  await load.goesOn();
}

test.each(PARTS)(
  'kill -9 of $what under load: Postgres has what callers saw answered, to the unit, and nothing twice',
  async ({ what, part, isNeeded }) => {
    const load = await startLoad();
    try {
      for (let round = 0; round < (isNeeded ? 2 : 1); round += 1) {
        await throughAnOutage(load, () => part().kill(), part(), isNeeded);
      }
    } finally {
      await load.stop();
    }
    await expectExactUsage(`kill -9 of ${what}`, load);
  },
);

test.each(PARTS.slice(0, 3))(
  'SIGTERM of $what under load: no call is lost, and Postgres has what callers saw answered, to the unit',
  async ({ what, part, isNeeded }) => {
    const load = await startLoad();
    try {
      await throughAnOutage(load, () => part().stop(), part(), isNeeded);
    } finally {
      await load.stop();
    }
    const failed = [...load.seen.values()].flat().filter(({ status }) => status !== 200);
    // A refused connection tells the caller that nothing was done.
    const lost = failed.filter(({ id, code }) => upstream.served.has(id) || code !== 'ECONNREFUSED');
    expect(lost).toEqual([]);
    await expectExactUsage(`SIGTERM of ${what}`, load);
  },
);
