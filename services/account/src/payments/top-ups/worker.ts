import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { isAttemptToLog, startOutboxWorker } from '../../platform/outbox/outbox-worker.ts';
import type { Attempt } from '../../platform/outbox/outbox-worker.ts';
import { RECHECK_MS, startAccountChecks } from '../account-checks.ts';
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
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 600_000;

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
  /** Whether the account's usage shows that Postgres was restored, also before that is noticed elsewhere. */
  isRestored: (accountId: number) => Promise<boolean>;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: TopUpMetrics;
};

/** Looks at accounts that have few points left, and buys what they have chosen (docs/design/payments.md). */
export function startTopUps(options: Options): { wake: () => void; close: () => Promise<void> } {
  const { query, transact, isRestored, dueWatch, logger } = options;
  const attempts = startOutboxWorker<TopUp>({
    name: 'top-ups',
    idOf: ({ top_up_id }) => top_up_id,
    claim: (limit, except) =>
      limit > 0 ? claimTopUps(query, { limit, leaseMs: LEASE_MS, except }) : Promise.resolve([]),
    attempt: (topUp) => attemptOne(options, topUp),
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
      else await checkTopUp(inside, accountId);
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

async function attemptOne(options: Options, topUp: TopUp): Promise<Attempt> {
  const { query, isRestored, logger, metrics } = options;
  const { top_up_id, account_id, attempts, state } = topUp;
  try {
    // What was charged since the backup is forgotten; a payment that is known is asked for.
    if (state === 'open' && (await isRestored(account_id))) {
      throw new Error('Postgres was restored, and payments are not reconciled since then');
    }
    await attemptTopUp(options, topUp);
    return { delivered: true };
  } catch (error) {
    metrics.failed.inc();
    const about = { err: error, top_up_id, account_id, attempts: attempts + 1 };
    if (isAttemptToLog(attempts + 1)) logger.warn(about, 'top-up not made yet; will retry');
    const retryInMs = Math.min(FIRST_RETRY_MS * 2 ** attempts, MAX_RETRY_MS);
    await postponeTopUp(query, top_up_id, retryInMs).catch(() => undefined);
    return { delivered: false, retryInMs };
  }
}
