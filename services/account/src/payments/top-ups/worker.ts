import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { startOutboxWorker } from '../../platform/outbox/outbox-worker.ts';
import { repeated } from '../../platform/outbox/repeated.ts';
import { RECHECK_MS, startAccountChecks } from '../account-checks.ts';
import { RETRY_WAITS } from '../retry-waits.ts';
import type { TaxMode } from '../settings.ts';
import { attemptTopUp } from './attempt.ts';
import type { AttemptNeeds } from './attempt.ts';
import { checkTopUp } from './check.ts';
import {
  ATTEMPT_DUE,
  CHECK_DUE,
  checkAgainIn,
  claimTopUps,
  postponeTopUp,
  putOffChecks,
  takeCheck,
} from './store.ts';
import type { TopUp } from './store.ts';

const MAX_IN_FLIGHT = 4;

/** Longer than an attempt's requests with their second attempts and its transactions. */
const LEASE_MS = 60_000;

export type TopUpMetrics = { failed: Pick<Counter, 'inc'> };

export function createTopUpMetrics(registry: Registry): TopUpMetrics {
  return {
    failed: new Counter({
      name: 'tollgate_top_up_failures_total',
      help: 'Attempts of automatic top-ups that failed for another reason than a decline, and are retried',
      registers: [registry],
    }),
  };
}

type Options = AttemptNeeds & {
  tax: TaxMode;
  /** Whether the account's usage shows that Postgres was restored, also before that is noticed elsewhere. */
  isRestored: (accountId: number) => Promise<boolean>;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: TopUpMetrics;
};

/** Looks at accounts that have few points left, and buys what they have chosen (docs/design/payments.md). */
export function startTopUps(options: Options): { wake: () => void; close: () => Promise<void> } {
  const { query, transact, isRestored, dueWatch, metrics, logger } = options;
  const attempts = startOutboxWorker<TopUp>({
    name: 'top-ups',
    idOf: ({ top_up_id }) => top_up_id,
    claim: (limit, except) => claimTopUps(query, { limit, leaseMs: LEASE_MS, except }),
    attempt: repeated({
      work: async (topUp) => {
        // What was charged since the backup is forgotten; a payment that is known is asked for.
        if (topUp.state === 'open' && (await isRestored(topUp.account_id))) {
          throw new Error('Postgres was restored, and payments are not reconciled since then');
        }
        await attemptTopUp(options, topUp);
      },
      waits: RETRY_WAITS,
      postpone: ({ top_up_id }, ms) => postponeTopUp(query, top_up_id, ms),
      onFailed: () => {
        metrics.failed.inc();
      },
      message: 'top-up not made yet; will retry',
      describe: ({ top_up_id, account_id }, err) => ({ err, top_up_id, account_id }),
      logger,
    }),
    maxInFlight: MAX_IN_FLIGHT,
    due: { dueWatch, condition: ATTEMPT_DUE },
    logger,
  });
  const checks = startAccountChecks({
    query,
    transact,
    take: takeCheck,
    check: async (inside, accountId) => {
      // What was bought since the backup is forgotten.
      if (await isRestored(accountId)) await checkAgainIn(inside, accountId, RECHECK_MS);
      else await checkTopUp(inside, accountId, options.tax);
    },
    putOff: putOffChecks,
    onDone: attempts.wake,
    messages: {
      failed: 'top-ups wait for Postgres; retrying',
      recovered: 'top-ups are looked for again',
      ofAccount: 'an account could not be looked at for a top-up',
    },
    due: { dueWatch, condition: CHECK_DUE },
    logger,
  });
  return {
    wake: () => {
      checks.wake();
      attempts.wake();
    },
    close: async () => {
      await checks.close();
      await attempts.close();
    },
  };
}
