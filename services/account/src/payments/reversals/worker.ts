import type { Logger } from '@tollgate/log';
import type { LockInstant } from '../../billing/credits/changes.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { findPurchase } from '../purchases/store.ts';
import { settleReversal } from './settle.ts';
import { DUE_STEPS, findDueSteps, postponeStep } from './store.ts';

const BATCH = 50;

/** A purchase whose step failed waits this long and holds up no other. */
const RETRY_SEC = 60;

/** Goes on with refunds and disputes once the voids that they wait for are settled. */
export function startReversals(options: {
  query: Query;
  transact: Transact;
  lockInstant: LockInstant;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}): { wake: () => void; close: () => Promise<void> } {
  const { query, transact, lockInstant, dueWatch, logger } = options;

  async function runOne(purchaseId: number): Promise<void> {
    try {
      await transact(async (inside) => {
        const purchase = await findPurchase(inside, purchaseId);
        if (purchase !== undefined) await settleReversal(inside, lockInstant, purchase);
      });
    } catch (error) {
      logger.error(
        { err: error, purchase_id: purchaseId },
        'points of a reversed payment not taken; will retry',
      );
      await postponeStep(query, purchaseId, RETRY_SEC);
    }
  }

  return startWorkLoop({
    work: async (signal) => {
      const due = await findDueSteps(query, BATCH);
      for (const purchaseId of due) if (!signal.aborted) await runOne(purchaseId);
    },
    messages: {
      failed: 'reversed payments cannot be read from Postgres; retrying',
      recovered: 'reversed payments are read again',
    },
    due: { dueWatch, condition: `EXISTS (${DUE_STEPS})` },
    logger,
  });
}
