import { setTimeout as delay } from 'node:timers/promises';
import { cpuMsOf } from '../cores.ts';

export const SYSTEM_PARTS = ['gateway', 'auth', 'account', 'Redis', 'Postgres'] as const;
export type SystemPart = (typeof SYSTEM_PARTS)[number];

export type Pids = Readonly<Record<SystemPart, readonly number[]>>;

/** Per unit of work, or per idle second. */
export type CpuUs = Record<SystemPart, number>;

export type Meter = {
  /** Of a second without work (timers, polling, housekeeping); read before any work. */
  readIdle: () => Promise<CpuUs>;
  /** Beyond the idle CPU. `work` resolves with the number of units. */
  measure: (what: string, work: () => Promise<number>) => Promise<CpuUs>;
  lines: string[];
};

const IDLE_MS = 3_000;

/** From /proc/PID/stat, in ticks of 10 ms. */
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

/** Each part's, in the state that is most expensive for it. */
export function dearest(states: readonly CpuUs[]): CpuUs {
  return eachPart((part) => Math.max(...states.map((cpu) => cpu[part])));
}
