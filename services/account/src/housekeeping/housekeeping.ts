import type { Logger } from '@tollgate/log';
import type { Query } from '../database/query.ts';
import { pause } from '../timing/pause.ts';

export type HousekeepingOptions = {
  query: Query;
  intervalSec: number;
  sessionIdleTimeoutSec: number;
  deliveryRetentionSec: number;
  logger: Pick<Logger, 'warn'>;
};

/** Rows that one statement removes, so that none holds its locks for long. */
const BATCH = 1_000;

/** What can't be used any more. */
const EXPIRED: Readonly<Record<string, string>> = {
  sessions:
    "expires_at <= now() OR last_seen_at <= now() - CAST(:idleTimeoutSec AS integer) * interval '1 second'",
  email_tokens: 'expires_at <= now()',
  team_invitations: 'expires_at <= now()',
  attempt_counts: 'window_ends_at <= now()',
  webhook_secrets: 'expires_at <= now()',
  webhook_deliveries:
    "status <> 'pending' AND created_at <= now() - CAST(:deliveryRetentionSec AS integer) * interval '1 second'",
};

/**
 * Removes what has expired, now and then. It may run in every replica at once: each passes over the rows that
 * another one is removing.
 */
export function startHousekeeping(options: HousekeepingOptions): { close: () => Promise<void> } {
  const { query, intervalSec, sessionIdleTimeoutSec, deliveryRetentionSec, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        for (const [table, condition] of Object.entries(EXPIRED)) {
          await removeExpired(table, condition);
        }
      } catch (error) {
        logger.warn({ err: error }, 'what has expired could not be removed; the next round tries again');
      }
      await pause(intervalSec * 1_000, signal);
    }
  }

  async function removeExpired(table: string, condition: string): Promise<void> {
    for (let removed = BATCH; removed === BATCH && !signal.aborted;) {
      const rows = await query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${String(BATCH)} FOR UPDATE SKIP LOCKED))
         RETURNING 1`,
        { idleTimeoutSec: sessionIdleTimeoutSec, deliveryRetentionSec },
      );
      removed = rows.length;
    }
  }

  const running = run();
  return {
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}
