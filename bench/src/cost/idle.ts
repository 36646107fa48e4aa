import { setTimeout as delay } from 'node:timers/promises';
import { cpuMsOf } from '../cores.ts';
import type { PartResult } from '../part.ts';
import type { Servers } from '../servers.ts';

const PROCESSES = ['gateway', 'auth', 'account', 'upstream', 'redis', 'postgres'] as const;

/**
 * In the first minutes V8 compiles, and collects all garbage of each process twice, the last time some 210 to 270 s
 * after its start. Postgres begins its first checkpoint 300 s after its start, and wakes some 20 times a second for up
 * to 100 s to write what the start has left.
 */
const WINDOWS = [
  { fromSec: 30, toSec: 60 },
  { fromSec: 150, toSec: 210 },
  { fromSec: 300, toSec: 400 },
  { fromSec: 420, toSec: 540 },
] as const;

const GOAL_PERCENT = 0.5;

type Percents = { name: string; percent: number }[];

/**
 * CPU of each process kind of the stack of `npm start` without any calls, in percent of a core. The goal is for a stack
 * that has settled; what it takes soon after its start is stated beside it.
 */
export async function measureIdle({ pidOf }: Servers, say: (line: string) => void): Promise<PartResult> {
  const beganMs = performance.now();
  const until = (sec: number) => delay(beganMs + sec * 1_000 - performance.now());
  const read = () => ({ atMs: performance.now(), cpuMs: PROCESSES.map((name) => cpuMsOf(pidOf(name))) });

  async function measure(fromSec: number, toSec: number): Promise<Percents> {
    await until(fromSec);
    const before = read();
    await until(toSec);
    const after = read();
    return PROCESSES.map((name, at) => ({
      name,
      percent: (((after.cpuMs[at] ?? NaN) - (before.cpuMs[at] ?? NaN)) / (after.atMs - before.atMs)) * 100,
    }));
  }

  const windows: { fromSec: number; toSec: number; total: number; percents: Percents }[] = [];
  const lines = ['from /proc/PID/stat; the last line counts'];
  for (const { fromSec, toSec } of WINDOWS) {
    const percents = await measure(fromSec, toSec);
    const total = percents.reduce((sum, { percent }) => sum + percent, 0);
    const line = `${String(toSec - fromSec)} s, ${String(fromSec)} s after the start: ${total.toFixed(2)} percent of a core (${textOf(percents)})`;
    say(`idle: ${line}`);
    windows.push({ fromSec, toSec, total, percents });
    lines.push(line);
  }
  const total = windows.at(-1)?.total ?? NaN;
  return {
    goals: [
      {
        what: 'CPU of the idle stack, in percent of a core',
        figure: total.toFixed(2),
        target: `≤ ${String(GOAL_PERCENT)}`,
        reached: total <= GOAL_PERCENT,
      },
    ],
    notes: lines,
    figures: windows,
  };
}

function textOf(percents: Percents): string {
  return percents.map(({ name, percent }) => `${name} ${percent.toFixed(2)}`).join(', ');
}
