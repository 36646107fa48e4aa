import type { RedisConnection } from '@tollgate/redis';
import type { PartResult } from '../part.ts';
import { whole } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { withRedis } from '../with-redis.ts';
import { SHARE_TRUST_MS, simulateCalls } from './simulated-calls.ts';

const GATEWAYS = 5;
const CALLERS = [8, 64];
const ROUNDS = 2;
const GOAL = 50_000;

/** Calls of one payer per second of Redis' CPU, with and without shares (docs/design/admission.md). */
export async function measureHotPayer(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  const rounds = await withRedis(servers, (redis) => measureRounds(servers, redis, say));
  const least = (callers: number, trustMs: number) =>
    Math.min(
      ...rounds
        .filter((round) => round.callers === callers && round.trustMs === trustMs)
        .map(({ perCoreSecond }) => perCoreSecond),
    );
  return {
    goals: CALLERS.map((callers) => ({
      what: `calls of one payer per second of Redis' CPU, ${String(callers)} at a time at each of ${String(GATEWAYS)} gateways`,
      figure: whole(least(callers, SHARE_TRUST_MS)),
      target: `≥ ${whole(GOAL)}`,
      reached: least(callers, SHARE_TRUST_MS) >= GOAL,
    })),
    notes: [
      `${String(ROUNDS)} alternating rounds; the lowest counts. Admission and settlement by the gateway's code, in one process and without HTTP; the upstream takes 5 ms. Redis' share of account's reading is included`,
      ...CALLERS.map(
        (callers) =>
          `without shares, ${String(callers)} at a time: ${whole(least(callers, 0))} per second of Redis' CPU`,
      ),
    ],
    figures: rounds,
  };
}

async function measureRounds(
  servers: Servers,
  redis: RedisConnection,
  say: (line: string) => void,
): Promise<{ callers: number; trustMs: number; perCoreSecond: number }[]> {
  const rounds = [];
  for (const callers of CALLERS) {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const trustMs of [0, SHARE_TRUST_MS]) {
        const load = { gateways: GATEWAYS, callers, trustMs };
        const { callsPerSec, bySharesPerCall, cpuUs } = await simulateCalls(servers, redis, load);
        const perCoreSecond = 1_000_000 / cpuUs;
        rounds.push({ callers, trustMs, perCoreSecond });
        say(
          `hot-payer: ${String(callers)} callers, shares ${trustMs > 0 ? 'on' : 'off'}: ${whole(callsPerSec)} calls/s, ` +
            `${whole(perCoreSecond)} per second of Redis' CPU, ${bySharesPerCall.toFixed(2)} of them by shares`,
        );
      }
    }
  }
  return rounds;
}
