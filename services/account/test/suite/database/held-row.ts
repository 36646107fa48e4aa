import type { Knex } from 'knex';
import { waitFor } from '@tollgate/stack/wait-for';
import { sessionsOf } from './sessions.ts';

/** Locks a row until `waiting` requests wait for it, so that all are within their transactions and none has ended. */
export async function raceAtRow<T>(
  database: Knex,
  row: { table: 'accounts' | 'teams'; where: Record<string, number>; waiting: number },
  send: () => Promise<T>[],
): Promise<T[]> {
  const holder = await database.transaction();
  try {
    await holder(row.table).where(row.where).forUpdate().select();
    const answers = Promise.all(send());
    await waitFor(
      async () => {
        const waiting = await sessionsOf(database).where({ wait_event_type: 'Lock' });
        return waiting.length >= row.waiting;
      },
      { what: 'requests that wait for a lock' },
    );
    await holder.commit();
    return await answers;
  } finally {
    if (!holder.isCompleted()) await holder.rollback();
  }
}
