import type { LockInstant } from '../../billing/credits/changes.ts';
import type { Logger } from '@tollgate/log';
import { startRounds } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import type { Transact } from '../../platform/database/query.ts';
import { eraseNextDue } from './erase.ts';

/** Erases due accounts at intervals. Every replica may run it: the account's lock lets one of them. */
export function startErasures(options: {
  transact: Transact;
  lockInstant: LockInstant;
  intervalSec: number;
  wakeMails: () => void;
  logger: Pick<Logger, 'info' | 'warn'>;
}): Pick<BackgroundLoop, 'close'> {
  const { transact, lockInstant, intervalSec, wakeMails, logger } = options;

  return startRounds(intervalSec * 1_000, async (signal) => {
    const failed: number[] = [];
    for (let isMore = true; isMore && !signal.aborted;) {
      const known = failed.length;
      try {
        const erasure = await transact(async (query) => {
          // A long audit trail takes longer than other background work.
          await query("SET LOCAL statement_timeout = '60s'");
          return eraseNextDue(query, lockInstant, failed);
        });
        isMore = erasure !== null;
        if (erasure === 'waiting')
          logger.info({}, 'a deleted account is erased once Stripe knows of its end');
        if (erasure === 'erased') {
          logger.info({}, 'a deleted account was erased');
          wakeMails();
        }
      } catch (error) {
        logger.warn({ err: error }, 'a deleted account could not be erased; retrying at the next interval');
        // Not a fault of one account: Postgres is away.
        isMore = failed.length > known;
      }
    }
  });
}
