import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RedisConnection } from '@tollgate/redis';
import { cpuMsOf, inPlace } from '../cores.ts';
import { scriptsPerCall, scriptsSoFar } from '../cost/sharing.ts';
import type { Servers } from '../servers.ts';
import type { ScriptState } from '../simulate/unit-costs.ts';

const ROUND_SEC = 4;

/** Per call of all gateways together; `cpuUs` is Redis', account's reading included. */
export type SimulatedRound = ScriptState & { callsPerSec: number };

/** What a program prints; `refused` and `decided` only with admission. */
type Printed = { calls: number; seconds: number; refused?: number; decided?: { share: number } };

/**
 * Runs a program of the gateway's suites: gateways' own code in one process, without HTTP, because a few cores can't
 * generate so many real calls.
 */
async function runProgram(
  servers: Servers,
  redis: Pick<RedisConnection, 'info'>,
  [name, ...args]: readonly [name: string, ...args: number[]],
): Promise<{ round: SimulatedRound; printed: Printed }> {
  const program = join(servers.project, 'services/gateway/test/suite/load', name);
  const run = [process.execPath, program, servers.redisUrl, ...args.map(String)];
  const [command = '', ...rest] = inPlace(servers.places?.server, run);
  const redisPid = servers.pidOf('redis');
  const [beforeMs, before] = [cpuMsOf(redisPid), await scriptsSoFar(redis)];
  const { stdout } = await promisify(execFile)(command, rest);
  const [spentMs, after] = [cpuMsOf(redisPid) - beforeMs, await scriptsSoFar(redis)];
  const printed = JSON.parse(stdout) as Printed;
  const { calls, seconds } = printed;
  const round = {
    callsPerSec: calls / seconds,
    cpuUs: (spentMs * 1_000) / calls,
    scripts: scriptsPerCall(before, after, calls),
  };
  return { round, printed };
}

export type SimulatedLoad = {
  gateways: number;
  /** Concurrent calls of each gateway. */
  callers: number;
  /** ADMISSION_SHARE_TRUST_MS; 0 for no shares. */
  trustMs: number;
};

/** As long as gateways trust a share by default. */
export const SHARE_TRUST_MS = 400;

/**
 * Calls of one payer from admission to settlement, whose upstream takes 5 ms.
 *
 * @throws {Error} if a call was refused
 */
export async function simulateCalls(
  servers: Servers,
  redis: Pick<RedisConnection, 'info'>,
  { gateways, callers, trustMs }: SimulatedLoad,
): Promise<SimulatedRound & { bySharesPerCall: number }> {
  const args = ['simulated-calls.ts', gateways, callers, ROUND_SEC, trustMs] as const;
  const { round, printed } = await runProgram(servers, redis, args);
  const { calls, refused = 0, decided } = printed;
  if (refused > 0) throw new Error(`${String(refused)} calls were refused`);
  return { ...round, bySharesPerCall: (decided?.share ?? 0) / calls };
}

export type SettledLoad = {
  gateways: number;
  /** Of each gateway, at random times. */
  callsPerSec: number;
  payers: number;
  /** SETTLEMENT_INTERVAL_MS. */
  intervalMs: number;
};

/** Settles calls, and does nothing else of them. */
export async function settleCalls(
  servers: Servers,
  redis: Pick<RedisConnection, 'info'>,
  { gateways, callsPerSec, payers, intervalMs }: SettledLoad,
): Promise<SimulatedRound> {
  const args = ['settled-calls.ts', gateways, callsPerSec, payers, ROUND_SEC, intervalMs] as const;
  return (await runProgram(servers, redis, args)).round;
}
