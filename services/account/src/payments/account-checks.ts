import type { Logger } from '@tollgate/log';
import { takeNext } from '../platform/background/take-next.ts';
import { startWorkLoop } from '../platform/background/work-loop.ts';
import type { Due } from '../platform/background/work-loop.ts';
import type { Query, Transact } from '../platform/database/query.ts';

/** An account whose check failed holds up no other. */
export const RECHECK_MS = 60_000;

/**
 * Takes an account that asks for a check in `table`, with all of its requests, by `order`; undefined if none is due.
 * The account is locked first, as an erasure does, which deletes the requests: the other way round the two would wait
 * for each other. What others have locked is skipped, so that it holds up no other account.
 */
export async function takeAsked(
  query: Query,
  { table, due = 'true', order }: { table: string; due?: string; order: string },
): Promise<number | undefined> {
  const [asked] = await query<{ account_id: number }>(
    `SELECT account_id FROM ${table} JOIN accounts USING (account_id) WHERE ${due}
     ORDER BY ${order} LIMIT 1 FOR NO KEY UPDATE OF accounts SKIP LOCKED`,
  );
  if (asked !== undefined) {
    await query(`DELETE FROM ${table} WHERE account_id = :account_id`, { account_id: asked.account_id });
  }
  return asked?.account_id;
}

type AccountChecks = {
  query: Query;
  transact: Transact;
  /** Takes one account that asks for a check, in the transaction of the check. */
  take: (inside: Query) => Promise<number | undefined>;
  check: (inside: Query, accountId: number) => Promise<void>;
  /** After a check that failed: the rollback brought its requests back. */
  putOff: (query: Query, accountId: number, ms: number) => Promise<void>;
  onDone: () => void;
  messages: { failed: string; recovered: string; ofAccount: string };
  due: Due;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
};

/** Checks the accounts that ask for it, one after the other, each in a transaction. */
export function startAccountChecks(options: AccountChecks): { wake: () => void; close: () => Promise<void> } {
  const { query, transact, take, check, putOff, onDone, due, logger } = options;
  const { ofAccount, ...messages } = options.messages;

  async function isDue(): Promise<boolean> {
    const rows = await query<{ due: boolean }>(`SELECT ${due.condition} AS due`);
    return rows[0]?.due === true;
  }

  const checkNext = () =>
    takeNext(transact, {
      take,
      work: check,
      onDone,
      onFailed: async (account_id, error) => {
        logger.error({ err: error, account_id }, ofAccount);
        await putOff(query, account_id, RECHECK_MS);
      },
    });
  return startWorkLoop({
    work: async (signal) => {
      while (!signal.aborted && (await isDue()) && (await checkNext()));
    },
    messages,
    due,
    logger,
  });
}
