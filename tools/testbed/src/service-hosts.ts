import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { answersOk } from '@tollgate/stack/health';
import { describeExit, lastLines, manageProcess } from '@tollgate/stack/process';
import type { Exit, ManagedProcess, StopOptions } from '@tollgate/stack/process';
import { NODE_FLAGS } from '@tollgate/stack/service';
import { waitFor } from '@tollgate/stack/wait-for';
import { compileCache, runDirectory } from './config.ts';
import { programFile } from './programs.ts';
import { newDirectory, register } from './run.ts';
import type { Order } from './service-host.ts';

const PROGRAM = join(import.meta.dirname, 'service-host.ts');

const START_TIME_LIMIT_MS = 90_000;

/** Of a service. One is for a replica; a process that has run account holds some 200 MB. */
const IDLE_MAX = 2;

/** A process that runs one service, once or again. */
type Host = { child: ChildProcess; process: ManagedProcess };

export type RunOptions = { env: Readonly<Record<string, string>>; readyUrl: string };

export type ServiceRun = {
  pid: number;
  stop: (options?: StopOptions) => Promise<Exit>;
  logs: () => string;
};

/** Those of this worker that run nothing now, by service. */
const idle = new Map<string, Host[]>();

/** @throws {Error} with the log's last lines unless readyUrl answers 200 */
export async function runInHost(name: string, { env, readyUrl }: RunOptions): Promise<ServiceRun> {
  const host = takeIdle(name) ?? (await startHost(name));
  const run = begin(host, name, { file: programFile(`services/${name}`, 'service'), env });
  const { hasExited, exited } = host.process;
  try {
    await waitFor(() => hasExited() || answersOk(readyUrl), {
      timeoutMs: START_TIME_LIMIT_MS,
      intervalMs: 50,
      what: `${readyUrl} to answer 200`,
    });
  } catch (error) {
    await run.stop({ signal: 'SIGKILL' });
    throw new Error(`${name} doesn't get ready.\n${lastLines(run.logs())}`, { cause: error });
  }
  if (hasExited()) {
    throw new Error(`${name} ended with ${describeExit(await exited)}.\n${lastLines(run.logs())}`);
  }
  return run;
}

function takeIdle(name: string): Host | undefined {
  const hosts = idle.get(name) ?? [];
  for (let host = hosts.pop(); host !== undefined; host = hosts.pop()) {
    // What a service has left behind may have ended it.
    if (!host.process.hasExited()) return host;
  }
  return undefined;
}

function keepIdle(name: string, host: Host): void {
  const hosts = idle.get(name) ?? [];
  if (hosts.length < IDLE_MAX) idle.set(name, [...hosts, host]);
  else void host.process.stop({ signal: 'SIGKILL' });
}

function begin({ child, process: host }: Host, name: string, order: Exclude<Order, 'stop'>): ServiceRun {
  const { logFile } = host;
  const beginsAt = statSync(logFile).size;
  let endsAt: number | undefined;
  const stopped = new Promise<Exit>((resolve) => {
    child.once('message', () => {
      endsAt = statSync(logFile).size;
      keepIdle(name, { child, process: host });
      resolve({ code: 0, signal: null });
    });
  });
  const ended = Promise.race([stopped, host.exited]);
  child.send(order satisfies Order, ignoreError);
  return {
    pid: host.identity.pid,
    logs: () => readFileSync(logFile).subarray(beginsAt, endsAt).toString(),
    stop: async ({ signal, timeLimitMs = 10_000 } = {}) => {
      if (endsAt !== undefined) return await ended;
      if (signal !== undefined) return await host.stop({ signal, timeLimitMs });
      child.send('stop' satisfies Order, ignoreError);
      const timer = new AbortController();
      const late = delay(timeLimitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
      if ((await Promise.race([ended, late])) === 'late') await host.stop({ signal: 'SIGKILL' });
      timer.abort();
      return await ended;
    },
  };
}

async function startHost(name: string): Promise<Host> {
  const logFile = join(newDirectory(runDirectory(), name), 'log');
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(process.execPath, [...NODE_FLAGS, PROGRAM], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: compileCache(),
  });
  closeSync(log);
  const managed = await manageProcess(child, { name, logFile, onSpawn: register(runDirectory()) });
  // The worker ends when its suites have ended, and its hosts with it.
  child.unref();
  child.channel?.unref();
  return { child, process: managed };
}

/** What isn't received is seen by the host's end. */
function ignoreError(): void {
  // See above.
}
