import { setTimeout as delay } from 'node:timers/promises';
import { cpuMsOf } from '../cores.ts';
import type { PartResult } from '../part.ts';
import type { Servers } from '../servers.ts';

const PROCESSES = ['gateway', 'auth', 'account', 'upstream', 'redis', 'postgres'] as const;

/** V8 compiles and collects for a while after the start, and Postgres writes its first checkpoint. */
const SETTLE_MS = 30_000;
const MEASURED_MS = 30_000;

const GOAL_PERCENT = 1;

/** CPU of each process kind of the stack of `npm start` without any calls, in percent of a core. */
export async function measureIdle({ pidOf }: Servers, say: (line: string) => void): Promise<PartResult> {
  await delay(SETTLE_MS);
  const read = () => PROCESSES.map((name) => cpuMsOf(pidOf(name)));
  const [before, startedMs] = [read(), performance.now()];
  await delay(MEASURED_MS);
  const [after, elapsedMs] = [read(), performance.now() - startedMs];
  const percents = PROCESSES.map((name, at) => ({
    name,
    percent: (((after[at] ?? NaN) - (before[at] ?? NaN)) / elapsedMs) * 100,
  }));
  const total = percents.reduce((sum, { percent }) => sum + percent, 0);
  const line = percents.map(({ name, percent }) => `${name} ${percent.toFixed(2)}`).join(', ');
  say(`idle: ${total.toFixed(2)} % of a core: ${line}`);
  return {
    goals: [
      {
        what: 'CPU of the idle stack, in percent of a core',
        figure: total.toFixed(2),
        target: `≤ ${String(GOAL_PERCENT)}`,
        reached: total <= GOAL_PERCENT,
      },
    ],
    notes: [
      `${String(MEASURED_MS / 1_000)} s, ${String(SETTLE_MS / 1_000)} s after the start; from /proc/PID/stat`,
      `${line} percent of a core`,
    ],
    figures: { total, percents },
  };
}
