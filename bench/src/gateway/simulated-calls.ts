import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RedisConnection } from '@tollgate/redis';
import { cpuMsOf, inPlace } from '../cores.ts';
import { scriptsPerCall, scriptsSoFar } from '../cost/sharing.ts';
import type { Servers } from '../servers.ts';
import type { CallScripts } from '../simulate/unit-costs.ts';

export type SimulatedLoad = {
  gateways: number;
  /** Concurrent calls of each gateway. */
  callers: number;
  /** The mean of the random pause before each call; 0 for none. */
  pauseMs: number;
  payers: number;
  /** ADMISSION_SHARE_TRUST_MS; 0 for no shares. */
  trustMs: number;
  /** SETTLEMENT_INTERVAL_MS. */
  intervalMs: number;
};

/** Of all gateways together; `redisUs`: CPU-µs of Redis for a call, account's reading included. */
export type SimulatedRound = {
  callsPerSec: number;
  bySharesPerCall: number;
  redisUs: number;
  scripts: CallScripts;
};

type Printed = {
  calls: number;
  refused: number;
  seconds: number;
  decided: { share: number };
};

const ROUND_SEC = 4;
/** As long as gateways trust a share by default. */
export const SHARE_TRUST_MS = 400;

/**
 * Runs the gateways' own admission and settlement in one process, without HTTP, because a few cores can't generate so
 * many real calls.
 *
 * @throws {Error} if a call was refused
 */
export async function simulateCalls(
  servers: Servers,
  redis: Pick<RedisConnection, 'info'>,
  { gateways, callers, pauseMs, payers, trustMs, intervalMs }: SimulatedLoad,
): Promise<SimulatedRound> {
  const program = join(servers.project, 'services/gateway/test/suite/load/simulated-calls.ts');
  const args = [gateways, callers, pauseMs, payers, ROUND_SEC, trustMs, intervalMs].map(String);
  const [command = '', ...rest] = inPlace(servers.places?.server, [
    process.execPath,
    program,
    servers.redisUrl,
    ...args,
  ]);
  const redisPid = servers.pidOf('redis');
  const [beforeMs, scriptsBefore] = [cpuMsOf(redisPid), await scriptsSoFar(redis)];
  const { stdout } = await promisify(execFile)(command, rest);
  const [spentMs, scripts] = [cpuMsOf(redisPid) - beforeMs, await scriptsSoFar(redis)];
  const { calls, refused, seconds, decided } = JSON.parse(stdout) as Printed;
  if (refused > 0) throw new Error(`${String(refused)} calls were refused`);
  return {
    callsPerSec: calls / seconds,
    bySharesPerCall: decided.share / calls,
    redisUs: (spentMs * 1_000) / calls,
    scripts: scriptsPerCall(scriptsBefore, scripts, calls),
  };
}
