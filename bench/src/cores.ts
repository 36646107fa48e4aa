import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, getPriority, setPriority } from 'node:os';

/** Servers run alone on one core, the load on another, the rest (Redis …) on those that are left. */
export type Places = { server: string; load: string; rest: string };

/** Undefined if processes can't be pinned (no taskset, or a single core). */
export function placesOf(cores = availableParallelism()): Places | undefined {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  if (cores < 2) return undefined;
  return { server: '0', load: '1', rest: cores === 2 ? '1' : `2-${String(cores - 1)}` };
}

/** All its threads; processes that it starts from now on inherit the core. */
export function pin(pid: number, place: string | undefined): void {
  if (place === undefined) return;
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', place, String(pid)], { stdio: 'ignore' });
}

const FIRST = -10;

export function sharesItsCore(places: Places | undefined): boolean {
  return places !== undefined && places.load === places.rest;
}

/** Raises the priority, so that measuring isn't delayed by what it measures. False unless root. */
export function goesFirst(pid: number): boolean {
  try {
    setPriority(pid, FIRST);
    return true;
  } catch {
    return false;
  }
}

/** Where this process shares its core with Redis, which goes first, it does so too: the load would be late. */
export async function undelayed<T>(places: Places | undefined, load: () => Promise<T>): Promise<T> {
  const before = getPriority();
  const isFirst = sharesItsCore(places) && goesFirst(0);
  try {
    return await load();
  } finally {
    if (isFirst) setPriority(before);
  }
}

export function inPlace(place: string | undefined, command: readonly string[]): string[] {
  return place === undefined ? [...command] : ['taskset', '--cpu-list', place, ...command];
}

/** Includes child processes that have ended. In ms; NaN if the system doesn't tell. */
export function cpuMsOf(pid: number): number {
  return cpuMsOfTree(pid) ?? Number.NaN;
}

/** `cpu`: the share of one core, from 0 to 1, that the process used while `work` ran. */
export async function withCpu<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ result: T; elapsedMs: number; cpu: number }> {
  const before = { cpuMs: cpuMsOf(pid), atMs: performance.now() };
  const result = await work();
  const elapsedMs = performance.now() - before.atMs;
  return { result, elapsedMs, cpu: (cpuMsOf(pid) - before.cpuMs) / elapsedMs };
}

/** Undefined if the process has ended. */
function cpuMsOfTree(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8');
    const ofChildren = children.split(' ').filter((child) => child !== '');
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // proc_pid_stat(5): fields 14 to 17, in ticks of which Linux reports 100 a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ownMs = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
    // The time of a child that ends meanwhile is its parent's at the next reading.
    return ofChildren.reduce((sum, child) => sum + (cpuMsOfTree(Number(child)) ?? 0), ownMs);
  } catch {
    return undefined;
  }
}
