import { setTimeout as delay } from 'node:timers/promises';
import { cpuMsOf } from '../cores.ts';

export const SYSTEM_PARTS = ['gateway', 'auth', 'account', 'Redis', 'Postgres'] as const;
export type SystemPart = (typeof SYSTEM_PARTS)[number];

/** The processes of each part: a part may have several. */
export type Pids = Readonly<Record<SystemPart, readonly number[]>>;

/** CPU of each part in µs: of one unit of work, or of a second with nothing to do. */
export type CpuUs = Record<SystemPart, number>;

export type Meter = {
  /** What each part uses in a second without work (timers, polling, housekeeping); measured before any work. */
  readIdle: () => Promise<CpuUs>;
  /** What one unit of work costs each part beyond that. `work` resolves with how many units were done. */
  measure: (what: string, work: () => Promise<number>) => Promise<CpuUs>;
  /** What was measured, for a reader. */
  lines: string[];
};

const IDLE_MS = 3_000;

/** Reads the CPU of a system's processes, from /proc/PID/stat (in ticks of 10 ms). */
export function createMeter(pids: Pids, say: (line: string) => void): Meter {
  const lines: string[] = [];
  let idle = eachPart(() => 0);
  const read = () => ({
    atMs: performance.now(),
    cpu: eachPart((part) => pids[part].reduce((sum, pid) => sum + cpuMsOf(pid) * 1_000, 0)),
  });

  async function measure(what: string, work: () => Promise<number>): Promise<CpuUs> {
    const before = read();
    const units = await work();
    const after = read();
    const seconds = (after.atMs - before.atMs) / 1_000;
    const cpu = eachPart((part) =>
      Math.max(0, (after.cpu[part] - before.cpu[part] - idle[part] * seconds) / units),
    );
    lines.push(`${what}: ${SYSTEM_PARTS.map((part) => cpu[part].toFixed(1)).join(' / ')}`);
    say(`cost: ${lines.at(-1) ?? ''}`);
    return cpu;
  }

  async function readIdle(): Promise<CpuUs> {
    const before = read();
    await delay(IDLE_MS);
    const after = read();
    const seconds = (after.atMs - before.atMs) / 1_000;
    idle = eachPart((part) => (after.cpu[part] - before.cpu[part]) / seconds);
    return idle;
  }

  return { readIdle, measure, lines };
}

export function eachPart(valueOf: (part: SystemPart) => number): CpuUs {
  return Object.fromEntries(SYSTEM_PARTS.map((part) => [part, valueOf(part)])) as CpuUs;
}
