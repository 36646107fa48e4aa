import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import { publishOnMasters } from '@tollgate/redis/publish';
import type { Query } from '../../platform/database/query.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import { CLIENT_CHANGES_PENDING, changeOf, claimUnpublished } from './store.ts';
import type { PendingClientChange } from './store.ts';

export type ClientChangePublisher = {
  /** Publishes a row whose transaction has just committed. Whether Redis has taken it; never throws. */
  publish: (row: PendingClientChange) => Promise<boolean>;
  close: () => Promise<void>;
};

export type ClientChangePublisherOptions = {
  query: Query;
  redis: RedisConnection;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn'>;
  published: Pick<Counter, 'inc'>;
};

const BATCH_ROWS = 1_000;

/** How often a row is published until auth acknowledges it, for subscribers that came later. */
const REPUBLISH_MS = 1_000;

/**
 * Publishes clients' changes to every introspection cache (docs/design/revocation.md). The process that commits
 * publishes at once, without auth or Postgres; the loop does it for one that has died, and repeats it until auth has
 * acknowledged the row.
 */
export function startClientChangePublisher(options: ClientChangePublisherOptions): ClientChangePublisher {
  const { query, redis, dueWatch, logger, published } = options;

  async function publishRow(row: PendingClientChange): Promise<void> {
    await publishOnMasters(redis, CLIENT_CHANGE_CHANNEL, JSON.stringify(changeOf(row)));
    published.inc();
  }

  const loop = startWorkLoop({
    work: async () => {
      const rows = await claimUnpublished(query, { limit: BATCH_ROWS, republishMs: REPUBLISH_MS });
      await Promise.all(rows.map(publishRow));
    },
    messages: {
      failed: 'changes of clients wait to be published; trying again',
      recovered: 'changes of clients are published again',
    },
    due: { dueWatch, condition: CLIENT_CHANGES_PENDING },
    logger,
  });

  return {
    publish: (row) =>
      publishRow(row).then(
        () => true,
        () => false,
      ),
    close: loop.close,
  };
}

export function createPublishedClientChanges(registry: Registry): Counter {
  return new Counter({
    name: 'tollgate_client_change_outbox_published_total',
    help: 'Changes of applications that this process has published, repetitions included',
    registers: [registry],
  });
}
