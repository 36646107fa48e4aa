import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import { publishOnMasters } from '@tollgate/redis/publish';
import type { Query } from '../../platform/database/query.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import type { Due } from '../../platform/background/work-loop.ts';
import { changeOf, claimUnpublished } from './store.ts';
import type { PendingClientChange } from './store.ts';

export type PublishOptions = {
  redis: RedisConnection;
  published: Pick<Counter, 'inc'>;
};

const BATCH_ROWS = 1_000;

/** How often a row is published until auth acknowledges it, for subscribers that came later. */
const REPUBLISH_MS = 1_000;

/** Tells every introspection cache of a committed change (docs/design/revocation.md), without auth or Postgres. */
export async function publishRow(
  { redis, published }: PublishOptions,
  row: PendingClientChange,
): Promise<void> {
  await publishOnMasters(redis, CLIENT_CHANGE_CHANNEL, JSON.stringify(changeOf(row)));
  published.inc();
}

/**
 * The process that commits publishes at once; the loop does it for one that has died, and repeats it until auth has
 * acknowledged the row.
 */
export function startRepublishing(
  options: PublishOptions & { query: Query; logger: Pick<Logger, 'info' | 'warn'> },
  due: Due,
): BackgroundLoop {
  const { query, logger } = options;
  return startWorkLoop({
    work: async () => {
      const rows = await claimUnpublished(query, { limit: BATCH_ROWS, republishMs: REPUBLISH_MS });
      await Promise.all(rows.map((row) => publishRow(options, row)));
    },
    messages: {
      failed: 'changes of clients wait to be published; trying again',
      recovered: 'changes of clients are published again',
    },
    due,
    logger,
  });
}

export function createPublishedClientChanges(registry: Registry): Counter {
  return new Counter({
    name: 'tollgate_client_change_outbox_published_total',
    help: 'Changes of applications that this process has published, repetitions included',
    registers: [registry],
  });
}
