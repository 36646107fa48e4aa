import { join } from 'node:path';
import { runCommand } from '@tollgate/stack/process';
import { cpuMsOf, inPlace } from '../cores.ts';
import type { Round, Target } from './load.ts';
import type { Servers } from '../servers.ts';
import type { Tools } from '../tools.ts';

type WrkLoad = {
  seconds: number;
  connections: number;
  /** Each connection waits this long on average before each request; 0 for as many as are answered. */
  meanPauseMs?: number;
};

export type WrkRound = Round & { requests: number; p50Ms: number; p99Ms: number };

/** A target, and tokens that its requests bear in turn. */
export type WrkTarget = Target & { bearers?: readonly string[] };

export type RunWrk = (target: WrkTarget, load: WrkLoad) => Promise<WrkRound>;

/**
 * wrk sends the same request again and again (wrk.lua): an order of magnitude lighter than a generator in Node.js,
 * which would be what is measured here.
 *
 * The round fails when a connection breaks or a request is answered with 400 and up: a refusal is faster than an
 * answer. wrk lets a redirect pass: who measures reads an answer before and after.
 */
export function createWrk(servers: Servers, { wrk, env }: Pick<Tools, 'wrk' | 'env'>): RunWrk {
  const { places, directory, project, onSpawn } = servers;
  return async (target, { seconds, connections, meanPauseMs = 0 }) => {
    const { pid, url } = target;
    const [command = '', ...args] = inPlace(places?.load, [
      wrk,
      '--threads=1',
      `--connections=${String(connections)}`,
      `--duration=${String(seconds)}s`,
      '--timeout=10s',
      `--script=${join(project, 'bench/src/load/wrk.lua')}`,
      url,
      '--',
      String(meanPauseMs),
    ]);
    const before = { at: performance.now(), server: cpuMsOf(pid) };
    const output = await runCommand({
      name: 'wrk',
      command,
      args,
      env: { ...env, ...scriptEnvironment(target), ...(meanPauseMs > 0 ? { PAUSED: 'yes' } : {}) },
      logFile: join(directory, 'logs/wrk.log'),
      onSpawn,
    });
    const elapsedMs = performance.now() - before.at;
    const done = readDone(output);
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

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** The request as wrk.lua reads it from its environment, where secrets don't show as they would among arguments. */
export function scriptEnvironment({
  method = 'POST',
  headers,
  body,
  bearers = [],
}: Pick<WrkTarget, 'method' | 'headers' | 'body' | 'bearers'>): Record<string, string> {
  const all = { ...(method === 'POST' ? FORM : {}), ...headers };
  return {
    METHOD: method,
    HEADERS: Object.entries(all)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
    BODY: body,
    TOKENS: bearers.join(' '),
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

/** @throws {Error} where nothing was answered: a rate of nothing would be a comparison with nothing. */
export function readDone(output: string): WrkDone {
  const done = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as WrkDone;
  if (done.requests === 0) throw new Error('wrk got no answer');
  return done;
}
