import { afterEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import { openSuiteDatabase, startAccount } from '../../../test/suite/account-under-test.ts';
import { createQuery } from '../database/query.ts';
import type { Query } from '../database/query.ts';
import { startDueWatch } from './due-watch.ts';
import type { DueWatch } from './due-watch.ts';

let watch: DueWatch | undefined;

afterEach(async () => {
  await watch?.close();
});

/** Counts the looks, and answers each with `answer`. */
function watchOf(answer: (sql: string) => Promise<boolean[]>): { watch: DueWatch; looks: () => number } {
  let looks = 0;
  const query = async (sql: string) => {
    const due = await answer(sql);
    looks += 1;
    return [{ due }];
  };
  watch = startDueWatch(query as Query);
  return { watch, looks: () => looks };
}

test('wakes a loop while there is work and once after, and no other', async () => {
  let due = true;
  const { watch: own, looks } = watchOf(() => Promise.resolve([due, false]));
  const woken = { busy: 0, idle: 0 };
  own.watch('busy', () => (woken.busy += 1));
  own.watch('idle', () => (woken.idle += 1));
  await waitFor(() => woken.busy >= 2);
  due = false;
  const before = looks();
  await waitFor(() => looks() >= before + 2);
  const after = woken.busy;
  await waitFor(() => looks() >= before + 4);
  expect([woken.busy, woken.idle]).toEqual([after, 0]);
});

test('the first look has all loops that start in the same turn', async () => {
  const first = Promise.withResolvers<string>();
  const { watch: own } = watchOf((sql) => {
    first.resolve(sql);
    return Promise.resolve([false, false]);
  });
  own.watch('one', () => undefined);
  own.watch('other', () => undefined);
  expect(await first.promise).toContain('[one, other]');
});

test.each([
  ['refuses', () => Promise.reject(new Error('Postgres is away'))],
  ['does not answer', () => new Promise<boolean[]>(() => undefined)],
])('wakes every loop while Postgres %s', async (_, answer) => {
  const { watch: own } = watchOf(answer);
  let woken = 0;
  own.watch('anything', () => (woken += 1));
  await waitFor(() => woken >= 3);
});

test('while notices arrive it looks less often; a notice makes it look soon, and often for a while', async () => {
  let isHearing = false;
  let notify = () => {};
  let looks = 0;
  const query = () => {
    looks += 1;
    return Promise.resolve([{ due: [false] }]);
  };
  watch = startDueWatch(query as Query, {
    isHearing: () => isHearing,
    onNotice: (_channel, callback) => {
      notify = callback;
    },
  });
  watch.watch('anything', () => undefined);
  // Half seconds by a timer of the same process: a busy machine makes them as late as the looks.
  let halves = 0;
  const clock = setInterval(() => (halves += 1), 500);
  const untilLooks = async (count: number) => {
    const until = looks + count;
    await waitFor(() => looks >= until, { intervalMs: 1 });
  };
  const halvesOf = async (count: number) => {
    const before = halves;
    await untilLooks(count);
    return halves - before;
  };
  try {
    await untilLooks(1);
    expect(await halvesOf(2)).toBeLessThan(5);
    isHearing = true;
    await untilLooks(1);
    const restedMs = performance.now();
    await untilLooks(2);
    expect(performance.now() - restedMs).toBeGreaterThan(3_000);
    notify();
    expect(await halvesOf(1)).toBeLessThan(3);
    expect(await halvesOf(2)).toBeLessThan(5);
  } finally {
    clearInterval(clock);
  }
});

test('another set of as many conditions is looked for by a statement of its own', async () => {
  const home = await createDatabase();
  const database = openSuiteDatabase(home.url);
  try {
    const query = createQuery(database);
    let looks = 0;
    const counted: Query = async (...statement) => {
      const rows = await query(...statement);
      looks += 1;
      return rows as never;
    };
    watch = startDueWatch(counted);
    let woken = 0;
    const wake = () => (woken += 1);
    for (const condition of ['1 = 2', '2 = 1']) {
      const before = looks;
      const unwatch = watch.watch(condition, wake);
      await waitFor(() => looks >= before + 2);
      unwatch();
    }
    expect(woken).toBe(0);
  } finally {
    await watch?.close();
    await database.destroy();
    await home.drop();
  }
});

test("account's own conditions are valid, and none holds while there is nothing to do", async () => {
  const suite = await startAccount({ settings: { SIGN_UP_PLAN: 'none' } });
  try {
    const asked = async () => {
      const { rows } = await suite.database.raw<{ rows: { query: string }[] }>(
        `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT ARRAY[%'
           AND pid <> pg_backend_pid() ORDER BY query_start DESC`,
      );
      return rows[0]?.query;
    };
    await waitFor(async () => {
      const { rows } = await suite.database.raw<{ rows: { due: boolean[] }[] }>(await waitFor(asked));
      const due = rows[0]?.due ?? [];
      return due.length === 10 && due.every((one) => !one);
    });
  } finally {
    await suite.close();
  }
});
