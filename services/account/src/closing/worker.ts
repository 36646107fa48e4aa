import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { isServiceUnavailable } from '@tollgate/http/problem';
import { usageLane } from '@tollgate/contracts/usage-stream';
import type { ScriptableRedis } from '@tollgate/redis/script';
import type { DueWatch } from '../platform/background/due-watch.ts';
import { startWorkLoop } from '../platform/background/work-loop.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import type { UsageLanes } from '../platform/usage-lanes.ts';
import { carryOver } from './carry-over.ts';
import { closePeriod, correctPeriod } from './close-period.ts';
import { createCountedUntil } from './counted.ts';
import type { CountedUntil } from './counted.ts';
import { createClosingNotices } from './notices.ts';
import type { ClosingNotices } from './notices.ts';
import { resolveNextCut } from './resolve-cut.ts';
import type { StepNeeds } from './step-needs.ts';

type StepName = 'cut' | 'period' | 'correction' | 'carry_over';

export type ClosingMetrics = {
  stopped: Pick<Gauge, 'set'>;
  done: Pick<Counter<'step'>, 'inc'>;
  failed: Pick<Counter<'step'>, 'inc'>;
  oldestDue: Pick<Gauge<'step'>, 'set'>;
};

export type ClosingOptions = StepNeeds & {
  query: Query;
  transact: Transact;
  redis: ScriptableRedis;
  usageLanes: UsageLanes;
  /** CLOSING_DELAY_SEC */
  delaySec: number;
  /** With payments, whether a restore is over is for their reconciliation to say, too. */
  hasPayments: boolean;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: ClosingMetrics;
};

/** `at`: until when the account's usage must be counted. */
type Due = { account_id: number; period_id: number; at: Date };

type Step = {
  name: StepName;
  /** What is due, as columns of Due. */
  due: string;
  run: (query: Query, due: Due, countedUntil: Date, needs: StepNeeds) => Promise<boolean>;
};

const LISTED = 500;

/** Connections of the pool. */
const LANES = 4;

/** An account whose step failed waits this long and holds up no other. */
const RETRY_MS = 60_000;

/**
 * In order: usage must be settled up to the cuts before a period can be closed. The time is that of the statement, which
 * an index can be searched by.
 */
export function stepsOf(delaySec: number): Step[] {
  const delay = `interval '${String(delaySec)} seconds'`;
  return [
    {
      name: 'cut',
      due: `SELECT account_id, 0 AS period_id, at FROM credit_cuts
        WHERE resolved_at IS NULL AND at <= statement_timestamp()`,
      run: (query, { account_id }, countedUntil, needs) =>
        resolveNextCut(query, account_id, countedUntil, needs),
    },
    {
      name: 'period',
      due: `SELECT account_id, period_id, ends_at + ${delay} AS at FROM period_closings
        WHERE ends_at <= statement_timestamp() - ${delay}`,
      run: closePeriod,
    },
    {
      name: 'correction',
      due: `SELECT account_id, period_id, min(credit_corrections.created_at) AS at
        FROM credit_corrections JOIN billing_periods USING (period_id) GROUP BY account_id, period_id`,
      run: correctPeriod,
    },
    {
      name: 'carry_over',
      due: 'SELECT account_id, period_id, created_at AS at FROM credit_carry_overs',
      run: (query, due, _countedUntil, { lockInstant }) => carryOver(query, due, lockInstant),
    },
  ];
}

/**
 * Settles usage with grants: up to the instants at which those change, at the end of periods, and where usage of closed
 * periods changes (docs/design/credits.md). Runs in every replica at once; each step is a transaction that skips
 * accounts that another one has locked.
 */
export function startClosing(options: ClosingOptions): { close: () => Promise<void> } {
  const steps = stepsOf(options.delaySec);
  /** Accounts whose step failed, with the time by performance.now() until which they wait. */
  const waiting = new Map<number, number>();
  const notices = createClosingNotices(options.query);
  return startWorkLoop({
    work: async (signal) => {
      for (const [accountId, untilMs] of waiting) if (untilMs <= performance.now()) waiting.delete(accountId);
      await observeDue(options, steps);
      const isStopped = await isRepairDue(options);
      options.metrics.stopped.set(isStopped ? 1 : 0);
      if (isStopped) return;
      const countedUntil = createCountedUntil(options.query, options.redis);
      for (const step of steps) await runStep(options, step, { countedUntil, waiting, notices, signal });
    },
    messages: {
      failed: 'usage cannot be settled with credits; retrying',
      recovered: 'usage is being settled with credits again',
    },
    due: {
      dueWatch: options.dueWatch,
      condition: `NOT EXISTS (${restoresOf(options)}) AND (${steps.map(({ due }) => `EXISTS (${due})`).join(' OR ')})`,
    },
    // While it is stopped, nothing is due, which its metric tells.
    worksAtStart: true,
    logger: options.logger,
  });
}

export function createClosingMetrics(registry: Registry): ClosingMetrics {
  const labelled = { labelNames: ['step'] as const, registers: [registry] };
  const metrics = {
    stopped: new Gauge({
      name: 'tollgate_closing_stopped',
      help: '1 while nothing is settled because Postgres was restored and `usage repair --restored` has not run, else 0',
      registers: [registry],
    }),
    done: new Counter({
      name: 'tollgate_closing_steps_total',
      help: 'Steps of closing that this process has done: cut (resolved), period (closed), correction or carry_over',
      ...labelled,
    }),
    failed: new Counter({
      name: 'tollgate_closing_failures_total',
      help: 'Steps of closing that failed, which are retried after a minute',
      ...labelled,
    }),
    oldestDue: new Gauge({
      name: 'tollgate_closing_oldest_due_seconds',
      help: 'How long the oldest step of closing has been due; 0 without any',
      ...labelled,
    }),
  };
  for (const { name: step } of stepsOf(0)) {
    metrics.done.inc({ step }, 0);
    metrics.failed.inc({ step }, 0);
  }
  return metrics;
}

type Run = {
  countedUntil: CountedUntil;
  waiting: Map<number, number>;
  notices: ClosingNotices;
  signal: AbortSignal;
};

/** Until nothing is due that can be done now. */
async function runStep(options: ClosingOptions, step: Step, run: Run): Promise<void> {
  const uncounted = new Set<number>();
  const lanes = await options.usageLanes();
  for (;;) {
    const due = await findDue(options.query, step, [...run.waiting.keys()], {
      lanes,
      uncounted: [...uncounted],
    });
    const lane = async () => {
      let done = 0;
      for (let one = due.shift(); one !== undefined && !run.signal.aborted; one = due.shift()) {
        const until = await run.countedUntil(one.account_id);
        if (until < one.at.getTime()) uncounted.add(usageLane(one.account_id, lanes));
        else if (await runOne(options, step, run, one, new Date(until))) {
          done += 1;
          await run.notices.stepDone();
        }
      }
      return done;
    };
    const done = await Promise.all(Array.from({ length: LANES }, lane));
    await run.notices.allDone();
    if (run.signal.aborted || done.every((steps) => steps === 0)) return;
  }
}

async function runOne(
  { transact, lockInstant, overuse, logger, metrics }: ClosingOptions,
  step: Step,
  { waiting }: Run,
  due: Due,
  countedUntil: Date,
): Promise<boolean> {
  try {
    const isDone = await transact((inside) => step.run(inside, due, countedUntil, { lockInstant, overuse }));
    if (isDone) metrics.done.inc({ step: step.name });
    return isDone;
  } catch (error) {
    if (isServiceUnavailable(error)) throw error;
    logger.error(
      { err: error, ...due, step: step.name },
      'usage of an account could not be settled with credits',
    );
    metrics.failed.inc({ step: step.name });
    waiting.set(due.account_id, performance.now() + RETRY_MS);
    return false;
  }
}

/** The longest due first, without accounts that wait and streams that aren't counted far enough. */
function findDue(
  query: Query,
  { name, due }: Step,
  waiting: readonly number[],
  { lanes, uncounted }: { lanes: number; uncounted: readonly number[] },
): Promise<Due[]> {
  return query<Due>(
    `SELECT account_id, period_id, at FROM (${due}) AS due
     WHERE account_id <> ALL (CAST(:waiting AS bigint[]))
       AND account_id % :lanes <> ALL (CAST(:uncounted AS bigint[]))
     ORDER BY at LIMIT :limit`,
    { waiting, uncounted, lanes, limit: LISTED },
    `closing_due_${name}`,
  );
}

/** Postgres was restored from a backup: figures that are settled may lack usage that Redis still has. */
async function isRepairDue(options: Pick<ClosingOptions, 'query' | 'hasPayments'>): Promise<boolean> {
  return (await options.query(`${restoresOf(options)} LIMIT 1`)).length > 0;
}

function restoresOf({ hasPayments }: Pick<ClosingOptions, 'hasPayments'>): string {
  const restores = 'SELECT 1 FROM usage_restores';
  return hasPayments ? `${restores} UNION ALL SELECT 1 FROM payment_restores` : restores;
}

async function observeDue({ query, metrics }: ClosingOptions, steps: readonly Step[]): Promise<void> {
  for (const { name: step, due } of steps) {
    const rows = await query<{ age_sec: number }>(
      `SELECT CAST(greatest(0, extract(epoch FROM clock_timestamp() - min(at))) AS float8) AS age_sec
       FROM (${due}) AS due HAVING count(*) > 0`,
    );
    metrics.oldestDue.set({ step }, rows[0]?.age_sec ?? 0);
  }
}
