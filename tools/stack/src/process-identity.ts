import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { waitFor } from './wait-for.ts';

/**
 * A process that can be recognised later: systems use a pid again, but not with the same start time.
 * `startTime` is opaque: clock ticks since boot with the boot's id on Linux, a date elsewhere.
 */
export type ProcessIdentity = { pid: number; startTime: string };

/** The identity of a running process; undefined where there is none with that pid. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTime = process.platform === 'linux' ? linuxStartTime(pid) : psStartTime(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

/** Whether that very process still runs. One that has ended and was not yet reaped doesn't. */
export function isRunning({ pid, startTime }: ProcessIdentity): boolean {
  return identityOf(pid)?.startTime === startTime;
}

/** Ends a process that needn't be a child of ours: the signal, then SIGKILL after timeLimitMs. */
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
    // The processes of a stack lead a session of their own: what they have spawned goes with them.
    signalProcess(-identity.pid, 'SIGKILL');
    signalProcess(identity.pid, 'SIGKILL');
    await waitFor(ended, { timeoutMs: 5_000, what: `process ${String(identity.pid)} to end` });
  }
}

/** Sends a signal; a process (or group, for a negative pid) that has ended meanwhile is no error. */
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
    const [, state, started] =
      /^\s*(\S+)\s+(.+?)\s*$/.exec(execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], options)) ??
      [];
    return state === undefined || state.startsWith('Z') ? undefined : started;
  } catch {
    return undefined;
  }
}
