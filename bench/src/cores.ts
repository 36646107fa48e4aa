import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';

/** Where everything runs: servers alone on one core, the load on another, the rest (Redis …) wherever is left. */
export type Places = { server: string; load: string; rest: string };

/** The places of this machine; undefined where processes can't be pinned (no taskset, or a single core). */
export function placesOf(cores = availableParallelism()): Places | undefined {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  if (cores < 2) return undefined;
  return { server: '0', load: '1', rest: cores === 2 ? '1' : `2-${String(cores - 1)}` };
}

/** Pins a process, with all its threads, to a core. What it starts from now on inherits the place. */
export function pin(pid: number, place: string | undefined): void {
  if (place === undefined) return;
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', place, String(pid)], { stdio: 'ignore' });
}

const FIRST = -10;

/** Whether the load generator has a core that what is measured waits for as well. */
export function sharesItsCore(places: Places | undefined): boolean {
  return places !== undefined && places.load === places.rest;
}

/**
 * Gives a process precedence, by its priority (setpriority(2)): the measuring must not take the time of what is
 * measured. False where the system doesn't allow it, as for all but root.
 */
export function goesFirst(pid: number): boolean {
  try {
    setPriority(pid, FIRST);
    return true;
  } catch {
    return false;
  }
}

/** A command line that runs in a place, with all that it starts. */
export function inPlace(place: string | undefined, command: readonly string[]): string[] {
  return place === undefined ? [...command] : ['taskset', '--cpu-list', place, ...command];
}

/** CPU time that a process and those that it started, also those that have ended, have used until now, in ms; NaN where the system doesn't tell. */
export function cpuMsOf(pid: number): number {
  try {
    const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8');
    const ofChildren = children.split(' ').filter((child) => child !== '');
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // proc_pid_stat(5): fields 14 to 17, utime and stime of it and of children that it has waited for, in ticks of
    // which Linux reports 100 a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ownMs = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
    return ofChildren.reduce((sum, child) => sum + cpuMsOf(Number(child)), ownMs);
  } catch {
    return Number.NaN;
  }
}
