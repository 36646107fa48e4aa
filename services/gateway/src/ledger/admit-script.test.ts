import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { liveBudgetField, usageLiveKey, usageShard } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import fc from 'fast-check';
import { payerWith } from '../../test/suite/load/simulated-gateway.ts';
import { startVirtualClock } from '../../test/suite/load/virtual-clock.ts';
import { createAdmissionScript } from './admit-script.ts';
import type { AdmissionKind, DecideAdmissions } from './admit-script.ts';
import { leasesKey, rateKey, reservationsKey, sharesKey } from './keys.ts';
import { createPrimeFrom } from './prime-script.ts';
import type { PayerEntitlement } from './principal.ts';
import { reservation } from './reservations.ts';
import { createShareScripts } from './share-script.ts';

let server: OwnRedis;
let redis: RedisConnection;
let lastPayerId = 0;
let lastMember = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = await connect();
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

async function connect(): Promise<RedisConnection> {
  const connection = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => connection.status === 'ready');
  return connection;
}

/** `spent` of the budget; null where Redis doesn't know. */
async function newPayer(
  limits: Parameters<typeof payerWith>[1],
  budget: number | null = null,
  spent: number | null = 0,
): Promise<PayerEntitlement> {
  const payer = payerWith((lastPayerId += 1), limits, budget);
  await createPrimeFrom(redis)(
    {
      period_id: payer.periodId,
      payer_id: payer.payerId,
      usage_lane: payer.lane,
      points: 0,
      requests: 0,
      time_ms: 0,
      traffic_bytes: 0,
      stream_position: '0-0',
      usage_version: 0,
    },
    [],
    null,
  );
  const live = usageLiveKey(usageShard(payer.payerId), payer.periodId);
  for (const { kind, id } of payer.budgets?.all ?? [])
    if (spent !== null) await redis.hset(live, liveBudgetField(kind, id), `${String(spent)} 0 0`);
  return payer;
}

function newPayers(count: number, limits: Parameters<typeof payerWith>[1]): Promise<PayerEntitlement[]> {
  return Promise.all(Array.from({ length: count }, () => newPayer(limits)));
}

const member = () => `member-${String((lastMember += 1))}`;

async function scriptCalls(): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

test('calls of many payers in one turn of the event loop go together, at most 16 payers in a script call', async () => {
  const decide = createAdmissionScript(redis);
  const payers = await newPayers(40, { rate_limit: 6_000, session_limit: 4, points_limit: 10 });
  // Redis meets the script.
  await decide(await newPayer({}), 'call', [member()], 1, null);
  const before = await scriptCalls();
  const decisions = await Promise.all(
    payers.map((payer) => decide(payer, 'call', [member(), member()], 1, null)),
  );
  expect((await scriptCalls()) - before).toBe(3);
  const admitted = expect.objectContaining({ outcome: 'admitted', pointsLeft: 10 });
  expect(decisions).toEqual(payers.map(() => [admitted, admitted]));
  const leases = await Promise.all(payers.map(({ payerId }) => redis.zcard(leasesKey('calls', payerId))));
  expect(new Set(leases)).toEqual(new Set([2]));
});

test('payers of several lanes go apart: a lane has the keys of one slot on a Redis Cluster', async () => {
  const decide = createAdmissionScript(redis);
  const payers = await newPayers(6, { rate_limit: 6_000 });
  const before = await scriptCalls();
  await Promise.all(
    payers.map((payer, index) => decide({ ...payer, lane: index % 3 }, 'call', [member()], 1, null)),
  );
  expect((await scriptCalls()) - before).toBe(3);
});

test('unreadable data of one payer fails its calls and renewals, not those of the payers beside it', async () => {
  const decide = createAdmissionScript(redis);
  const [first, broken, odd, last] = (await newPayers(4, { rate_limit: 60, session_limit: 4 })) as [
    PayerEntitlement,
    PayerEntitlement,
    PayerEntitlement,
    PayerEntitlement,
  ];
  await redis.set(sharesKey(broken.payerId), 'of another type');
  // Of the right type, but nothing that a script has written.
  await redis.set(rateKey(odd.payerId), 'unreadable');
  const all = [first, broken, odd, last];
  const decisions = await Promise.allSettled(all.map((payer) => decide(payer, 'call', [member()], 1, null)));
  expect(decisions.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  expect(decisions[1]).toHaveProperty('reason.message', expect.stringContaining('WRONGTYPE'));

  const { sync } = createShareScripts(redis, 'gateway');
  const need = { calls: 2, slots: 1, points: 1, trafficBytes: 1, budgets: [] };
  const nothing = { isHeld: false, used: 0, rateState: '', level: 0 };
  const renewals = await Promise.allSettled(all.map((payer) => sync(payer, nothing, need)));
  expect(renewals.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
});

test('a server that takes no writes refuses the whole script call, so that the connection notices', async () => {
  const demoted = await startRedis();
  const connection = openRedis(demoted.url, createLogger('suite', 'silent'));
  await waitFor(() => connection.status === 'ready');
  const decide = createAdmissionScript(connection);
  const payers = [payerWith(1, { rate_limit: 60 }), payerWith(2, { rate_limit: 60 })];
  const ask = () => Promise.allSettled(payers.map((payer) => decide(payer, 'call', [member()], 1, null)));
  expect((await ask()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  await connection.call('REPLICAOF', '127.0.0.1', '1');
  for (const decision of await ask())
    expect(decision).toHaveProperty('reason.message', expect.stringMatching(/^READONLY/));
  connection.disconnect();
  await demoted.stop();
});

const some = (max: number) => fc.oneof(fc.constant(null), fc.integer({ min: 0, max }));
/** Used up, or not, where there is one. */
const seldom = fc.constantFrom(null, null, null, null, 0, 1);
const group = fc.record({
  kind: fc.constantFrom<AdmissionKind>('call', 'call', 'call', 'subscription'),
  calls: fc.integer({ min: 1, max: 5 }),
  units: fc.integer({ min: 1, max: 3 }),
  /** What a call of a payer with strict points reserves. */
  points: fc.integer({ min: 1, max: 60 }),
  /** By the same operation before. */
  held: fc.constantFrom(0, 0, 10),
});
const story = fc.record({
  limits: fc.record({
    rate_limit: some(20),
    session_limit: some(6),
    subscription_limit: some(3),
    points_limit: some(90),
    traffic_bytes_limit: seldom,
    time_sec_limit: seldom,
  }),
  budget: some(60),
  spent: fc.option(fc.nat(60), { freq: 9 }),
  isStrict: fc.boolean(),
  isLive: fc.nat(9).map((one) => one > 0),
  /** Another gateway's, if it isn't null. */
  share: fc.option(fc.record({ calls: fc.nat(20), slots: fc.nat(6), isValid: fc.boolean() })),
  groups: fc.array(group, { minLength: 3, maxLength: 3 }),
});

test('a script call for many payers decides on each, and leaves of each, what one for it alone does', async () => {
  const clock = await startVirtualClock(redis);
  const ruled = await connect();
  clock.rule(ruled);
  const decide = createAdmissionScript(ruled);
  const outcomes = new Map<string, number>();

  const ask = (
    payer: PayerEntitlement,
    isStrict: boolean,
    { kind, calls, units, points, held }: typeof group extends fc.Arbitrary<infer G> ? G : never,
    name: string,
  ): ReturnType<DecideAdmissions> =>
    isStrict
      ? decide(payer, kind, [name], units, { member: reservation(points, name, payer.budgets), held })
      : decide(
          payer,
          kind,
          Array.from({ length: calls }, (_, index) => `${name}.${String(index)}`),
          units,
          null,
        );

  async function leftOf({ payerId }: PayerEntitlement) {
    const range = (key: string) => redis.zrange(key, '0', '-1', 'WITHSCORES');
    return {
      shares: await redis.hgetall(sharesKey(payerId)),
      rate: await redis.get(rateKey(payerId)),
      calls: await range(leasesKey('calls', payerId)),
      subscriptions: await range(leasesKey('subscriptions', payerId)),
      reserved: await range(reservationsKey(payerId)),
    };
  }

  await fc.assert(
    fc.asyncProperty(fc.array(story, { minLength: 2, maxLength: 24 }), async (stories) => {
      const payers = await Promise.all(
        stories.map(async ({ limits, budget, spent, isStrict, isLive, share, groups }) => {
          const pair = [
            await newPayer(limits, budget, spent),
            await newPayer(limits, budget, spent),
          ] as const;
          for (const { payerId, periodId } of pair) {
            if (!isLive) await redis.del(usageLiveKey(usageShard(payerId), periodId));
            if (share === null) continue;
            const untilUs = clock.nowMs() * 1_000 + (share.isValid ? 900_000 : -1);
            const text = [untilUs, share.calls, share.slots, untilUs + 4_000_000].join(' ');
            await redis.hset(sharesKey(payerId), 'another-gateway', text);
          }
          const [together, alone] = pair;
          return { together, alone, isStrict, groups };
        }),
      );
      for (const round of [0, 1, 2]) {
        await clock.pass(400);
        const asked = payers.flatMap((payer, index) => {
          const one = payer.groups[round];
          return one === undefined ? [] : [{ ...payer, one, name: `${String(round)}-${String(index)}` }];
        });
        const decisions = await Promise.all(
          asked.map(({ together, isStrict, one, name }) => ask(together, isStrict, one, name)),
        );
        for (const [index, { together, alone, isStrict, one, name }] of asked.entries()) {
          expect(decisions[index]).toEqual(await ask(alone, isStrict, one, name));
          expect(await leftOf(together)).toEqual(await leftOf(alone));
          for (const { outcome } of decisions[index] ?? [])
            outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
      }
    }),
    { numRuns: 25 },
  );
  // Else nothing was tested.
  const expected = 'admitted unprimed points budget traffic time rate slots recalled reserved'.split(' ');
  expect(expected.filter((outcome) => !outcomes.has(outcome))).toEqual([]);
  ruled.disconnect();
});
