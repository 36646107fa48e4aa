import { createHash } from 'node:crypto';
import { pause, startLoop } from '@tollgate/server/background-loop';
import type { Notices } from './notices.ts';
import type { Query } from '../database/query.ts';

/** How often to look for work. */
const POLL_MS = 500;

/** The same where notices of new work arrive and none has come for a while: also how late work is that time makes due. */
const RESTING_POLL_MS = 2_000;

/** Longer than a session leaves out further notices (migration 0037). */
const BUSY_MS = 3_000;

/** Where Postgres sends notices of new work. */
export const DUE_WORK_CHANNEL = 'due_work';

export type DueWatch = {
  /**
   * Calls `wake` at each look at which the condition holds, held at the look before, or isn't known: Postgres has not
   * answered in time. `condition` is a constant SQL expression. Returns a function that ends this.
   */
  watch: (condition: string, wake: () => void) => () => void;
  close: () => Promise<void>;
};

type Watched = { condition: string; wake: () => void; wasDue: boolean };

/**
 * Looks for the work of all loops in one statement: twice a second while there is any and for a while after a notice,
 * else less often, so that an idle process is rarely woken (docs/design/deliveries.md).
 */
export function startDueWatch(query: Query, notices?: Pick<Notices, 'onNotice' | 'isHearing'>): DueWatch {
  const watched = new Set<Watched>();
  let looking: Promise<ReadonlySet<string> | undefined> | undefined;
  let busyUntilMs = 0;

  function look(): Promise<ReadonlySet<string> | undefined> {
    // The loops that start in the same turn are in the first look.
    looking ??= Promise.resolve()
      .then(() => findDue(query, [...new Set([...watched].map(({ condition }) => condition))]))
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  function stayBusy(): void {
    busyUntilMs = performance.now() + BUSY_MS;
  }

  const loop = startLoop(async (signal) => {
    const next = pause(POLL_MS, signal);
    const due = await Promise.race([look(), next]);
    for (const one of watched) {
      const isDue = due?.has(one.condition) ?? true;
      if (isDue || one.wasDue) one.wake();
      if (isDue) stayBusy();
      one.wasDue = isDue;
    }
    await next;
    const isIdle = notices?.isHearing() === true && performance.now() >= busyUntilMs;
    return isIdle ? RESTING_POLL_MS - POLL_MS : 0;
  });
  notices?.onNotice(DUE_WORK_CHANNEL, () => {
    stayBusy();
    loop.wake();
  });
  return {
    watch: (condition, wake) => {
      const one = { condition, wake, wasDue: false };
      watched.add(one);
      return () => watched.delete(one);
    },
    close: loop.close,
  };
}

async function findDue(query: Query, conditions: readonly string[]): Promise<ReadonlySet<string>> {
  if (conditions.length === 0) return new Set();
  const sql = `SELECT ARRAY[${conditions.join(', ')}] AS due`;
  // A connection keeps one statement by each name.
  const name = `due_work_${createHash('sha256').update(sql).digest('hex').slice(0, 16)}`;
  const [row] = await query<{ due: boolean[] }>(sql, {}, name);
  return new Set(conditions.filter((_, index) => row?.due[index]));
}
