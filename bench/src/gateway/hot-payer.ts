import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cpuMsOf, inPlace } from '../cores.ts';
import type { PartResult } from '../part.ts';
import { whole } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';

const GATEWAYS = 5;
const CALLERS = [8, 64];
const ROUNDS = 2;
const ROUND_SEC = 4;
const SHARE_TRUST_MS = 400;
const GOAL = 50_000;

type Round = { calls: number; refused: number; seconds: number; decided: Record<string, number> };

/**
 * Calls of one payer per second of Redis' CPU, with and without shares (docs/design/admission.md). Real processes can't
 * generate so many on a few cores, so a program runs several gateways' admission and settlement in one process, without
 * HTTP.
 */
export async function measureHotPayer(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  const redis = servers.pidOf('redis');
  const program = join(servers.project, 'services/gateway/test/suite/load/hot-payer.ts');
  const rounds: { callers: number; trustMs: number; perCoreSecond: number }[] = [];
  for (const callers of CALLERS) {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const trustMs of [0, SHARE_TRUST_MS]) {
        const args = [program, servers.redisUrl, GATEWAYS, callers, ROUND_SEC, trustMs].map(String);
        const [command = '', ...rest] = inPlace(servers.places?.server, [process.execPath, ...args]);
        const beforeMs = cpuMsOf(redis);
        const { stdout } = await promisify(execFile)(command, rest);
        const { calls, refused, seconds, decided } = JSON.parse(stdout) as Round;
        if (refused > 0) throw new Error(`${String(refused)} calls were refused`);
        const perCoreSecond = (calls * 1_000) / (cpuMsOf(redis) - beforeMs);
        rounds.push({ callers, trustMs, perCoreSecond });
        say(
          `hot-payer: ${String(callers)} callers, shares ${trustMs > 0 ? 'on' : 'off'}: ${whole(calls / seconds)} calls/s, ` +
            `${whole(perCoreSecond)} per second of Redis' CPU, ${String(decided['share'] ?? 0)} of ${String(calls)} by shares`,
        );
      }
    }
  }
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
      `${String(ROUNDS)} alternating rounds of ${String(ROUND_SEC)} s; the lowest counts. Admission and settlement by the gateway's code, in one process and without HTTP; the upstream takes 5 ms. Redis' share of account's reading is included`,
      ...CALLERS.map(
        (callers) =>
          `without shares, ${String(callers)} at a time: ${whole(least(callers, 0))} per second of Redis' CPU`,
      ),
    ],
    figures: rounds,
  };
}
