import { join } from 'node:path';
import { runCommand } from '@tollgate/stack/process';
import { inPlace, withCpu } from '../cores.ts';
import type { Round, Target } from './load.ts';
import type { Servers } from '../servers.ts';
import type { Tools } from '../tools.ts';

type WrkLoad = {
  seconds: number;
  connections: number;
  /** Average pause before each request of a connection; 0 for full load. */
  meanPauseMs?: number;
};

export type WrkRound = Round & { requests: number; p50Ms: number; p99Ms: number };

export type WrkTarget = Target & {
  /** Used in turn. */
  bearers?: readonly string[];
  /** How many bodies are used in turn, with their number in place of `__N__`. Default: 1. */
  variants?: number;
};

export type RunWrk = (target: WrkTarget, load: WrkLoad) => Promise<WrkRound>;

/**
 * A generator in Node.js would be the limit. Refusals are faster than real responses, so a status from 400
 * fails the round; wrk accepts redirects, so check a response before and after.
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
    const { result, elapsedMs, cpu } = await withCpu(pid, () =>
      runCommand({
        name: 'wrk',
        command,
        args,
        env: { ...env, ...scriptEnvironment(target), ...(meanPauseMs > 0 ? { PAUSED: 'yes' } : {}) },
        logFile: join(directory, 'logs/wrk.log'),
        onSpawn,
      }),
    );
    const done = readDone(result);
    if (done.failures > 0) {
      throw new Error(`${String(done.failures)} of ${String(done.requests)} requests to ${url} failed`);
    }
    return {
      requests: done.requests,
      perSec: (done.requests / done.durationMs) * 1_000,
      serverCpu: cpu,
      loadCpu: done.cpuMs / elapsedMs,
      p50Ms: done.p50Ms,
      p99Ms: done.p99Ms,
    };
  };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Secrets are visible in arguments, so wrk.lua reads the request from the environment. */
export function scriptEnvironment({
  method = 'POST',
  headers,
  body,
  bearers = [],
  variants = 1,
}: Pick<WrkTarget, 'method' | 'headers' | 'body' | 'bearers' | 'variants'>): Record<string, string> {
  const all = { ...(method === 'POST' ? FORM : {}), ...headers };
  return {
    METHOD: method,
    HEADERS: Object.entries(all)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
    BODY: body,
    TOKENS: bearers.join(' '),
    VARIANTS: String(variants),
  };
}

type WrkDone = {
  requests: number;
  durationMs: number;
  failures: number;
  cpuMs: number;
  p50Ms: number;
  p99Ms: number;
};

/** @throws {Error} without responses: there would be no rate to compare. */
export function readDone(output: string): WrkDone {
  const done = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as WrkDone;
  if (done.requests === 0) throw new Error('wrk got no answer');
  return done;
}
