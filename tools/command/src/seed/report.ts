import { setTimeout as delay } from 'node:timers/promises';
import type { Reported, Reporter } from '../api/reporter.ts';
import { EXIT, Failure, Refusal } from '../failures.ts';
import type { ReportedEvent } from './history.ts';

/** Events in one report, as the API takes them. */
const BATCH = 500;

const MAX_WAIT_MS = 2_000;

const UNKNOWN_REPORTER = new Failure(
  EXIT.refused,
  'The reporter credential is not in the account service’s USAGE_REPORTER_CREDENTIALS.',
);

/**
 * Reports usage, in batches; what was reported before counts once.
 * @throws {Failure}
 */
export async function reportUsage(report: Reporter, events: readonly ReportedEvent[]): Promise<Reported> {
  const sum: Reported = { counted: 0, repeated: 0, refused: 0 };
  await untilPast(events);
  for (let start = 0; start < events.length; start += BATCH) {
    try {
      const reported = await report(events.slice(start, start + BATCH));
      for (const outcome of ['counted', 'repeated', 'refused'] as const) sum[outcome] += reported[outcome];
    } catch (error) {
      throw error instanceof Refusal && error.code === 'unauthorized' ? UNKNOWN_REPORTER : error;
    }
  }
  return sum;
}

/** A subscription that was just bought begins with the next second; usage before its period is refused. */
async function untilPast(events: readonly ReportedEvent[]): Promise<void> {
  const newestMs = Math.max(0, ...events.map(({ occurred_at }) => Date.parse(occurred_at)));
  await delay(Math.min(Math.max(newestMs - Date.now(), 0), MAX_WAIT_MS));
}
