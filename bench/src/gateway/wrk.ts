import { join } from 'node:path';
import { runCommand } from '@tollgate/stack/process';
import { cpuMsOf, inPlace } from '../cores.ts';
import type { Round } from '../load.ts';
import type { Servers } from '../servers.ts';
import type { Tools } from './tools.ts';

/** A door to the upstream: one of the gateways, or the upstream itself. */
export type Door = { name: string; pid: number; url: string };

type WrkLoad = {
  seconds: number;
  connections: number;
  /** Each connection waits this long on average before each request; 0 for as many as are answered. */
  meanPauseMs?: number;
};

export type WrkRound = Round & { requests: number; p50Ms: number; p99Ms: number };

export type RunWrk = (door: Pick<Door, 'pid' | 'url'>, load: WrkLoad) => Promise<WrkRound>;

/**
 * wrk with small POSTs and a bearer token, or several in turn (wrk.lua): an order of magnitude lighter than a generator in Node.js,
 * which would be what is measured here.
 *
 * The round fails when a request isn't answered with a 2xx: a refusal is faster than an answer.
 */
export function createWrk(servers: Servers, { wrk, env }: Tools, ...tokens: string[]): RunWrk {
  const { places, directory, project, onSpawn } = servers;
  return async ({ pid, url }, { seconds, connections, meanPauseMs = 0 }) => {
    const [command = '', ...args] = inPlace(places?.load, [
      wrk,
      '--threads=1',
      `--connections=${String(connections)}`,
      `--duration=${String(seconds)}s`,
      '--timeout=10s',
      `--script=${join(project, 'bench/src/gateway/wrk.lua')}`,
      url,
      '--',
      String(meanPauseMs),
    ]);
    const before = { at: performance.now(), server: cpuMsOf(pid) };
    const output = await runCommand({
      name: 'wrk',
      command,
      args,
      env: { ...env, TOKENS: tokens.join(' '), ...(meanPauseMs > 0 ? { PAUSED: 'yes' } : {}) },
      logFile: join(directory, 'logs/wrk.log'),
      onSpawn,
    });
    const elapsedMs = performance.now() - before.at;
    const done = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as WrkDone;
    if (done.failures > 0) {
      throw new Error(`${String(done.failures)} of ${String(done.requests)} requests to ${url} failed`);
    }
    return {
      requests: done.requests,
      perSec: (done.requests / done.durationMs) * 1_000,
      serverCpu: (cpuMsOf(pid) - before.server) / elapsedMs,
      loadCpu: done.cpuMs / elapsedMs,
      p50Ms: done.p50Ms,
      p99Ms: done.p99Ms,
    };
  };
}

/** What wrk.lua prints. */
type WrkDone = {
  requests: number;
  durationMs: number;
  failures: number;
  cpuMs: number;
  p50Ms: number;
  p99Ms: number;
};
