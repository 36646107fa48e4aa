import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  admittedBeyondPoints,
  overTheRate,
  refusedWithFreeSlots,
  refusedWithinTheRate,
  refusedWithPointsLeft,
} from '../suite/load/limit-model.ts';
import type { Admitted } from '../suite/load/limit-model.ts';
import { openCaller, startMeteredUpstream } from '../suite/load/load.ts';
import type { MeteredUpstream, Seen } from '../suite/load/load.ts';
import { startRealServices } from '../suite/real-services.ts';
import type { Customer, RealServices } from '../suite/real-services.ts';

const CALLS = 10_000;
const CALLERS = 50;
const RATE = 1_500;
const SESSIONS = 30;
const POINTS = 20_000;

/** From this call on, prices are so high that a few calls use up the points, however far the rate has got. */
const DEAR_FROM = 7_000;
const DEAREST = 5_100;

const pointsOf = (id: number) => (id < DEAR_FROM ? 1 + (id % 3) : DEAREST - (id % 100));

let upstream: MeteredUpstream;
let services: RealServices;
let customer: Customer;
let answered: Admitted[];
let refused: (code: string) => Seen[];

beforeAll(async () => {
  upstream = await startMeteredUpstream(pointsOf);
  services = await startRealServices({ gatewayEnv: { UPSTREAM_URL: upstream.url } });
  customer = await services.newCustomer({
    rate_limit: RATE,
    session_limit: SESSIONS,
    points_limit: POINTS,
  });
  const seen = await tenThousandCalls(customer.token);
  answered = seen
    .filter(({ status }) => status === 200)
    .map((call) => ({ ...(upstream.served.get(call.id) ?? neverServed(call)), ...call }));
  refused = (code) => seen.filter((call) => call.code === code);
});

afterAll(async () => {
  await services.stop();
  await upstream.close();
});

async function tenThousandCalls(token: string): Promise<Seen[]> {
  const { call, close } = openCaller(services.gateways, CALLERS);
  const seen: Seen[] = [];
  let begun = 0;
  const beganMs = performance.now();
  const caller = async () => {
    while (begun < CALLS) {
      begun += 1;
      seen.push(await call(begun, token));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const elapsedMs = performance.now() - beganMs;
  await close();
  const outcomes = new Map<string, number>();
  for (const { status, code } of seen) {
    const outcome = `${String(status)} ${code}`.trim();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const text = [...outcomes].map(([outcome, count]) => `${outcome}: ${String(count)}`).join(', ');
  process.stdout.write(`${String(CALLS)} calls in ${elapsedMs.toFixed(0)} ms: ${text}\n`);
  return seen;
}

function neverServed({ id }: Seen): never {
  throw new Error(`call ${String(id)} was answered, and never came to the upstream`);
}

describe('10,000 calls from 50 callers over two gateways', () => {
  test('each limit has its turn, and there is no other refusal', () => {
    const refusals = [
      refused('session_limit_exceeded').length,
      refused('rate_limit_exceeded').length,
      refused('points_limit_exceeded').length,
    ];
    expect(Math.min(...refusals)).toBeGreaterThan(50);
    expect(refusals.reduce((sum, one) => sum + one, answered.length)).toBe(CALLS);
  });

  test('the rate: never one over, and none refused that fitted', () => {
    expect(overTheRate(answered, RATE)).toEqual([]);
    expect(refusedWithinTheRate(refused('rate_limit_exceeded'), answered, RATE)).toEqual([]);
  });

  test('the sessions: never one over, and none refused that fitted', () => {
    expect(upstream.busy().most).toBeLessThanOrEqual(SESSIONS);
    expect(refusedWithFreeSlots(refused('session_limit_exceeded'), answered, SESSIONS)).toEqual([]);
  });

  test('the points: used up, over by what was in flight alone, and none refused before', () => {
    expect(admittedBeyondPoints(answered, POINTS)).toEqual([]);
    expect(refusedWithPointsLeft(refused('points_limit_exceeded'), answered, POINTS)).toEqual([]);
    const points = answered.reduce((sum, call) => sum + call.points, 0);
    expect(points).toBeGreaterThanOrEqual(POINTS);
    expect(points).toBeLessThan(POINTS + SESSIONS * DEAREST);
  });

  test('the usage is what callers saw, and the upstream served nobody else', async () => {
    await services.allCounted();
    const { usage } = (await services.usage(customer)).billing_period;
    expect(usage).toEqual({
      points_usage: answered.reduce((sum, { points }) => sum + points, 0),
      requests_usage: answered.length,
      time_sec_usage: 0,
      traffic_bytes_usage: answered.reduce((sum, { bytes }) => sum + bytes, 0),
    });
    expect(upstream.served.size).toBe(answered.length);
    expect(answered.filter(({ id, points }) => points !== pointsOf(id))).toEqual([]);
  });
});
