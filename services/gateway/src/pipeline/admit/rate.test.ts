import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { defineScript } from '@tollgate/redis/script';
import type { Script } from '@tollgate/redis/script';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { turnedTo, underTurnedClock } from '@tollgate/testbed/turned-clock';
import { LUA, admissionDecisions } from '../../ledger/admit-script.ts';
import type { ScriptResult } from '../../ledger/admit-script.ts';

let server: OwnRedis;
let redis: RedisConnection;
let admitAt: Script;
let admitNow: Script;
let payers = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  // Redis expires keys by its own clock, so the rate's key stays here.
  const clocked = underTurnedClock(LUA, 2, {
    'key, arg = {}, 1, 2': 'key, arg = {}, 1, 4',
    ", 'PX', string.format('%d', ttl_ms)": '',
  });
  admitAt = defineScript(redis, clocked);
  admitNow = defineScript(redis, LUA);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const NO_CREDITS = '';
const NO_BUDGETS = '';
const NO_RESERVATION = '';

/** The arguments of a script call for one payer; `clock` stands before them. */
function admissionArgs(
  keys: readonly string[],
  { rate, slots, units, members }: { rate: number; slots: number; units: number; members: readonly string[] },
  clock: readonly number[] = [],
): (string | number)[] {
  const args = [-1, -1, -1, rate, slots, 1, units, NO_CREDITS, NO_BUDGETS, NO_RESERVATION, ...members];
  return [8_000, ...clock, keys.length, args.length, ...args];
}

type Ask = { rate: number; slots: number; members: string[]; atUs: number; units?: number };

async function askAll(payer: number, { rate, slots, members, atUs, units = 1 }: Ask) {
  const keys = ['live:1', 'rate', 'calls', 'shares'].map((name) => `{s0}:${name}:${String(payer)}`);
  const args = admissionArgs(keys, { rate, slots, units, members }, turnedTo(atUs));
  const [answer] = (await admitAt(keys, args)) as [ScriptResult];
  return admissionDecisions(
    { points_limit: null, rate_limit: rate < 0 ? null : rate },
    { calls: members.length, units },
    answer,
  );
}

async function ask(payer: number, { member, ...rest }: Omit<Ask, 'members'> & { member: string }) {
  const [answer] = await askAll(payer, { ...rest, members: [member] });
  if (answer === undefined) throw new Error('there is no answer');
  const { outcome, callsLeft, resetUs, waitUs } = answer;
  return { outcome, callsLeft, resetUs, waitUs };
}

const MINUTE_US = 60_000_000;
/** Any moment of these years: the arithmetic has to be exact where the numbers are large. */
const BEGIN_US = 1_790_000_000_000_000;

/**
 * The virtual scheduling formulation of GCRA (ITU-T I.371), in exact fractions: times are multiplied by rate. A call of
 * several units is as many calls at once, or none.
 */
function virtualScheduling(rate: number) {
  const [call, tolerance] = [BigInt(MINUTE_US), BigInt(rate - 1) * BigInt(MINUTE_US)];
  let arrival = 0n;
  return (atUs: number, units: number) => {
    const now = BigInt(atUs) * BigInt(rate);
    const others = BigInt(units - 1) * call;
    const theoretical = () => (now > arrival ? now : arrival);
    const conforms = theoretical() + others - tolerance <= now;
    if (conforms) arrival = theoretical() + others + call;
    const earliest = theoretical() + others - tolerance - now;
    return {
      conforms,
      remaining: Number((tolerance + call - (arrival > now ? arrival - now : 0n)) / call),
      waitUs: earliest > 0n ? Number((earliest + BigInt(rate) - 1n) / BigInt(rate)) : 0,
      resetUs: arrival > now ? Number((arrival - now + BigInt(rate) - 1n) / BigInt(rate)) : 0,
    };
  };
}

test('the rate script decides as exact virtual scheduling does, at any rate and in any rhythm', async () => {
  const gaps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 2_000_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 * MINUTE_US }) },
    ),
    { minLength: 1, maxLength: 60 },
  );
  const rates = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 6_000 }));
  const units = fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rates, gaps, units, async (rate, between, unitsOf) => {
      const payer = (payers += 1);
      const model = virtualScheduling(rate);
      let atUs = BEGIN_US;
      for (const [index, gapUs] of between.entries()) {
        atUs += gapUs;
        const callUnits = unitsOf[index % unitsOf.length] ?? 1;
        const answer = await ask(payer, { rate, slots: -1, member: String(index), atUs, units: callUnits });
        const expected = model(atUs, callUnits);
        expect(answer).toEqual({
          outcome: expected.conforms ? 'admitted' : 'rate',
          callsLeft: expected.remaining,
          waitUs: expected.waitUs,
          resetUs: expected.resetUs,
        });
      }
    }),
    { numRuns: 60 },
  );
});

test('a call at the moment that a refusal names is admitted, and one a microsecond earlier is not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (rate) => {
      const payer = (payers += 1);
      const call = (atUs: number) => ask(payer, { rate, slots: -1, member: 'm', atUs });
      for (let calls = 0; calls < rate; calls += 1) expect((await call(BEGIN_US)).outcome).toBe('admitted');
      const { outcome, waitUs } = await call(BEGIN_US);
      expect(outcome).toBe('rate');
      expect((await call(BEGIN_US + waitUs - 1)).outcome).toBe('rate');
      expect((await call(BEGIN_US + waitUs)).outcome).toBe('admitted');
    }),
    { numRuns: 20 },
  );
});

test('a clock that is turned back neither gives calls away nor locks anybody out', async () => {
  const payer = (payers += 1);
  const call = (atUs: number) => ask(payer, { rate: 2, slots: -1, member: 'm', atUs });
  expect((await call(BEGIN_US)).outcome).toBe('admitted');
  expect((await call(BEGIN_US)).outcome).toBe('admitted');
  const anHourBefore = BEGIN_US - 3_600_000_000;
  expect((await call(anHourBefore)).outcome).toBe('rate');
  expect((await call(BEGIN_US + 30_000_000)).outcome).toBe('admitted');
});

test('slots: never more than the limit are held, none is refused that fits, and expired ones come free', async () => {
  const slots = fc.integer({ min: 0, max: 4 });
  const gaps = fc.array(fc.integer({ min: 0, max: 5_000_000 }), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(slots, gaps, async (limit, between) => {
      const payer = (payers += 1);
      let atUs = BEGIN_US;
      let expiriesMs: number[] = [];
      for (const [index, gapUs] of between.entries()) {
        atUs += gapUs;
        const nowMs = Math.floor(atUs / 1_000);
        expiriesMs = expiriesMs.filter((expiryMs) => expiryMs > nowMs);
        const fits = expiriesMs.length < limit;
        const { outcome } = await ask(payer, { rate: -1, slots: limit, member: String(index), atUs });
        expect(outcome).toBe(fits ? 'admitted' : 'slots');
        if (fits) expiriesMs.push(nowMs + 8_000);
      }
    }),
    { numRuns: 40 },
  );
});

test('the rate is forgotten when all of it is there again, and not before', async () => {
  const payer = (payers += 1);
  const keys = ['live:1', 'rate', 'calls', 'shares'].map((name) => `{s0}:${name}:${String(payer)}`);
  const begunMs = performance.now();
  const args = admissionArgs(keys, { rate: 2, slots: -1, units: 1, members: ['m'] });
  const [answer] = (await admitNow(keys, args)) as [ScriptResult];
  const [admitted] = admissionDecisions(
    { points_limit: null, rate_limit: 2 },
    { calls: 1, units: 1 },
    answer,
  );
  expect(admitted?.resetUs).toBe(MINUTE_US / 2);
  const ttlMs = await redis.pttl(keys[1] ?? '');
  expect(ttlMs).toBeGreaterThanOrEqual(MINUTE_US / 2_000 - (performance.now() - begunMs));
  expect(ttlMs).toBeLessThanOrEqual(MINUTE_US / 2_000 + 1);
});

test('a call that gets no slot leaves the rate as it was', async () => {
  const payer = (payers += 1);
  const call = (member: string) => ask(payer, { rate: 10, slots: 1, member, atUs: BEGIN_US });
  expect(await call('one')).toMatchObject({ outcome: 'admitted', callsLeft: 9 });
  expect(await call('two')).toMatchObject({ outcome: 'slots', callsLeft: 9 });
  expect(await call('three')).toMatchObject({ outcome: 'slots', callsLeft: 9 });
});

test('calls that ask together are answered as if each had asked by itself, in their order', async () => {
  const round = fc.record({
    gapUs: fc.integer({ min: 0, max: 20_000_000 }),
    calls: fc.integer({ min: 1, max: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 40 })),
      fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 20 })),
      fc.array(round, { minLength: 1, maxLength: 8 }),
      async (rate, slots, rounds) => {
        const [together, alone] = [(payers += 1), (payers += 1)];
        let atUs = BEGIN_US;
        for (const [index, { gapUs, calls }] of rounds.entries()) {
          atUs += gapUs;
          const members = Array.from({ length: calls }, (_, call) => `${String(index)}.${String(call)}`);
          const expected = [];
          for (const member of members) {
            expected.push(...(await askAll(alone, { rate, slots, members: [member], atUs })));
          }
          expect(await askAll(together, { rate, slots, members, atUs })).toEqual(expected);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('the last fitting call is found exactly where the rate is as high as it can be', async () => {
  const rate = 150_000_000;
  const payer = (payers += 1);
  // A microsecond after a level of one call has drained by one microsecond's worth, and by no more.
  await redis.set(
    `{s0}:rate:${String(payer)}`,
    `${String(BEGIN_US)} ${String(rate * MINUTE_US - MINUTE_US + 1)}`,
  );
  const answers = await askAll(payer, { rate, slots: -1, members: ['one', 'two'], atUs: BEGIN_US });
  expect(answers.map(({ outcome }) => outcome)).toEqual(['rate', 'rate']);
});
