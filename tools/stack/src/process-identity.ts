import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { waitFor } from './wait-for.ts';

/** Systems reuse pids. `startTime` is opaque: ticks since boot with the boot's id on Linux, a date elsewhere. */
export type ProcessIdentity = { pid: number; startTime: string };

export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTime = process.platform === 'linux' ? linuxStartTime(pid) : psStartTime(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

/** False also for a process that has ended but wasn't reaped. */
export function isRunning({ pid, startTime }: ProcessIdentity): boolean {
  return identityOf(pid)?.startTime === startTime;
}

/** Sends the signal, then SIGKILL after timeLimitMs. The process needn't be a child. */
export async function endProcess(
  identity: ProcessIdentity,
  { signal = 'SIGTERM', timeLimitMs = 10_000 }: { signal?: NodeJS.Signals; timeLimitMs?: number } = {},
): Promise<void> {
  if (!isRunning(identity)) return;
  signalProcess(identity.pid, signal);
  const ended = () => !isRunning(identity);
  try {
    await waitFor(ended, { timeoutMs: timeLimitMs, what: `process ${String(identity.pid)} to end` });
  } catch {
    // Each process of a stack leads its own session, so its descendants end too.
    signalProcess(-identity.pid, 'SIGKILL');
    signalProcess(identity.pid, 'SIGKILL');
    await waitFor(ended, { timeoutMs: 5_000, what: `process ${String(identity.pid)} to end` });
  }
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function linuxStartTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // proc_pid_stat(5): the second field, the command, is in parentheses and may hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    if (ticks === undefined || state === 'Z' || state === 'X') return undefined;
    return `${bootId()}${ticks}`;
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/`;
  } catch {
    return '';
  }
}

function psStartTime(pid: number): string | undefined {
  try {
    const options = { encoding: 'utf8', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } } as const;
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], options).trim();
    const [, state, started] = /^(\S+)\s+(\S.*)$/.exec(line) ?? [];
    return state === undefined || state.startsWith('Z') ? undefined : started;
  } catch {
    return undefined;
  }
}
