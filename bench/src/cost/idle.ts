import { setTimeout as delay } from 'node:timers/promises';
import { cpuMsOf } from '../cores.ts';
import type { PartResult } from '../part.ts';
import type { Servers } from '../servers.ts';

const PROCESSES = ['gateway', 'auth', 'account', 'upstream', 'redis', 'postgres'] as const;

/** V8 compiles and collects in the first minutes, and Postgres writes its first checkpoint. */
const WINDOWS = [
  { settleSec: 30, measuredSec: 30 },
  { settleSec: 90, measuredSec: 60 },
] as const;

const GOAL_PERCENT = 1;

type Window = { fromSec: number; seconds: number; total: number; line: string };

/**
 * CPU of each process kind of the stack of `npm start` without any calls, in percent of a core. The goal is for a stack
 * that has settled; what it takes soon after its start is stated beside it.
 */
export async function measureIdle({ pidOf }: Servers, say: (line: string) => void): Promise<PartResult> {
  const read = () => PROCESSES.map((name) => cpuMsOf(pidOf(name)));

  async function measure(fromSec: number, seconds: number): Promise<Window> {
    const [before, startedMs] = [read(), performance.now()];
    await delay(seconds * 1_000);
    const [after, elapsedMs] = [read(), performance.now() - startedMs];
    const percents = PROCESSES.map((_, at) => (((after[at] ?? NaN) - (before[at] ?? NaN)) / elapsedMs) * 100);
    const total = percents.reduce((sum, percent) => sum + percent, 0);
    const line = PROCESSES.map((name, at) => `${name} ${(percents[at] ?? NaN).toFixed(2)}`).join(', ');
    say(`idle: ${total.toFixed(2)} % of a core: ${line}`);
    return { fromSec, seconds, total, line };
  }

  const windows: Window[] = [];
  let atSec = 0;
  for (const { settleSec, measuredSec } of WINDOWS) {
    await delay(settleSec * 1_000);
    windows.push(await measure(atSec + settleSec, measuredSec));
    atSec += settleSec + measuredSec;
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
    notes: [
      'from /proc/PID/stat; the last line counts',
      ...windows.map(
        ({ fromSec, seconds, total: percent, line }) =>
          `${String(seconds)} s, ${String(fromSec)} s after the start: ${percent.toFixed(2)} percent of a core (${line})`,
      ),
    ],
    figures: windows,
  };
}
