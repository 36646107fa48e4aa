import { describeExit } from '@tollgate/stack/process';
import type { ManagedProcess, OnSpawn } from '@tollgate/stack/process';
import { endProcess, isRunning } from '@tollgate/stack/process-identity';
import type { ProcessIdentity } from '@tollgate/stack/process-identity';
import { POSTGRES_STOP_SIGNAL } from '@tollgate/stack/postgres';
import { rmSync } from 'node:fs';
import { readJson, writePrivateFile } from './state.ts';

/** Each part ends before what it needs. Anything else (a migration) ends first. */
const STOP_ORDER = ['gateway', 'account', 'auth', 'upstream', 'redis', 'postgres'];

type LedgerEntry = ProcessIdentity & { name: string };

export type Supervisor = {
  onSpawn: OnSpawn;
  /** Restarts the process when it ends, until it ends too often. */
  watch: (process: ManagedProcess, start: () => Promise<ManagedProcess>) => void;
  /** Rejects when a watched process doesn't stay up; the caller then stops the stack. */
  failure: Promise<never>;
  /** Includes processes that start meanwhile. */
  stopAll: () => Promise<void>;
};

/** Allowed ends of one process within the window. */
const MAX_ENDS = 5;
const WINDOW_MS = 60_000;

/** Lists processes in a file too, so that the next launcher can end those of a killed one. */
export function createSupervisor(ledgerFile: string, say: (line: string) => void): Supervisor {
  const running = new Set<ManagedProcess>();
  const failure = Promise.withResolvers<never>();
  // Without a listener, a rejection would end the process.
  failure.promise.catch(() => undefined);
  let stopping = false;

  const writeLedger = () => {
    const entries: LedgerEntry[] = [...running].map(({ name, identity }) => ({ name, ...identity }));
    writePrivateFile(ledgerFile, entries);
  };
  const ends = new Map<string, number[]>();

  function watch(watched: ManagedProcess, start: () => Promise<ManagedProcess>): void {
    void watched.exited.then((exit) => ended(watched, describeExit(exit), start));
  }

  async function ended(
    last: ManagedProcess,
    how: string,
    start: () => Promise<ManagedProcess>,
  ): Promise<void> {
    if (stopping) return;
    const { name, logFile } = last;
    const now = performance.now();
    const recent = [...(ends.get(name) ?? []).filter((endedAt) => now - endedAt < WINDOW_MS), now];
    ends.set(name, recent);
    if (recent.length >= MAX_ENDS) {
      failure.reject(new Error(`${name} doesn't stay up (${how}). Its log: ${logFile}`));
      return;
    }
    say(`${name} ended unexpectedly (${how}); starting it again. Its log: ${logFile}`);
    try {
      watch(await start(), start);
      say(`${name} is back`);
    } catch (error) {
      await ended(last, error instanceof Error ? error.message : String(error), start);
    }
  }

  return {
    failure: failure.promise,
    onSpawn: (spawned) => {
      running.add(spawned);
      writeLedger();
      void spawned.exited.then(() => {
        running.delete(spawned);
        writeLedger();
      });
    },
    watch,
    stopAll: async () => {
      stopping = true;
      while (running.size > 0) {
        const first = Math.min(...[...running].map(({ name }) => STOP_ORDER.indexOf(name)));
        const next = [...running].filter(({ name }) => STOP_ORDER.indexOf(name) === first);
        await Promise.all(next.map((process) => process.stop(stopOptions(process.name))));
      }
      rmSync(ledgerFile, { force: true });
    },
  };
}

/** Returns the names of the processes. */
export async function endLeftovers(ledgerFile: string): Promise<string[]> {
  const entries = ((readJson(ledgerFile) ?? []) as LedgerEntry[]).filter(isRunning);
  for (const name of [...new Set(['', ...STOP_ORDER])]) {
    const next = entries.filter((entry) => (STOP_ORDER.includes(entry.name) ? entry.name : '') === name);
    await Promise.all(next.map((entry) => endProcess(entry, stopOptions(entry.name))));
  }
  rmSync(ledgerFile, { force: true });
  return entries.map(({ name }) => name);
}

/** Services end within their own SHUTDOWN_TIMEOUT_MS of 10 s. */
function stopOptions(name: string): { signal: NodeJS.Signals; timeLimitMs: number } {
  return name === 'postgres'
    ? { signal: POSTGRES_STOP_SIGNAL, timeLimitMs: 30_000 }
    : { signal: 'SIGTERM', timeLimitMs: 12_000 };
}
