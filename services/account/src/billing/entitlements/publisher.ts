import type { Knex } from 'knex';
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { ENTITLEMENT_CHANNEL } from '@tollgate/contracts/entitlement';
import type { EntitlementEvent } from '@tollgate/contracts/entitlement';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import { publishOnMasters } from '@tollgate/redis/publish';
import type { Notices } from '../../platform/background/notices.ts';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { createBacklogGauges } from '../../platform/outbox/backlog.ts';
import type { BacklogGauges } from '../../platform/outbox/backlog.ts';
import { drainOutbox } from '../../platform/outbox/drain.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import type { KeptAnswers } from './kept-answers.ts';

export type PublisherMetrics = BacklogGauges & { published: Pick<Counter, 'inc'> };

export type PublisherOptions = {
  /** A pool of its own: a transaction lasts until Redis has replied. */
  database: Knex;
  notices: Pick<Notices, 'onNotice'>;
  redis: RedisConnection;
  dueWatch: DueWatch;
  keptAnswers: Pick<KeptAnswers, 'forget'>;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: PublisherMetrics;
};

/** Where Postgres sends notices of changed entitlements (docs/design/entitlement.md). */
export const ENTITLEMENT_NOTICES = 'entitlement_outbox';

const BATCH_ROWS = 1_000;

/** Any number of replicas may take rows at once; a failed publish rolls the deletion back. */
const TAKE_SQL = `
  DELETE FROM entitlement_outbox WHERE outbox_id IN (
    SELECT outbox_id FROM entitlement_outbox ORDER BY outbox_id LIMIT :limit FOR UPDATE SKIP LOCKED
  ) RETURNING account_id`;

/** An event names a payer; what Redis keeps for its team's members depends on it as well. */
const WITH_MEMBERS_SQL = `
  SELECT unnest(CAST(:account_ids AS bigint[])) AS account_id
  UNION
  SELECT member.account_id FROM team_members AS manager JOIN team_members AS member USING (team_id)
  WHERE manager.role = 'manager' AND manager.account_id = ANY(:account_ids)`;

/**
 * Publishes what triggers queue (docs/design/entitlement.md), at least once: Redis acknowledges an event before its row
 * is deleted. What Redis keeps of the accounts goes first, so that a gateway that has heard of a change can't read it
 * (docs/design/entitlement.md).
 */
export function startEntitlementPublisher(options: PublisherOptions): { close: () => Promise<void> } {
  const { database, notices, dueWatch, logger, metrics } = options;
  const query = createQuery(database);
  const loop = startWorkLoop({
    work: () =>
      drainOutbox({
        query,
        table: 'entitlement_outbox',
        metrics,
        batchRows: BATCH_ROWS,
        takeBatch: () => publishBatch(options),
      }),
    messages: {
      failed: 'entitlement events cannot be published; retrying',
      recovered: 'entitlement events are being published again',
    },
    due: { dueWatch, condition: 'EXISTS (SELECT FROM entitlement_outbox)' },
    logger,
  });
  notices.onNotice(ENTITLEMENT_NOTICES, loop.wake);
  return { close: loop.close };
}

export function createPublisherMetrics(registry: Registry): PublisherMetrics {
  const rows = 'Changed entitlements whose event is not published yet';
  return {
    ...createBacklogGauges(registry, 'tollgate_entitlement_outbox', rows),
    published: new Counter({
      name: 'tollgate_entitlement_outbox_published_total',
      help: 'Entitlement events published by this process',
      registers: [registry],
    }),
  };
}

/** Publishes that entitlements of payers have changed. Fulfilled once Redis has acknowledged it. */
export async function announceEntitlements(
  query: Query,
  { redis, keptAnswers }: Pick<PublisherOptions, 'redis' | 'keptAnswers'>,
  accountIds: readonly number[],
): Promise<void> {
  const affected = await query<EntitlementEvent>(WITH_MEMBERS_SQL, { account_ids: [...accountIds] });
  await keptAnswers.forget(affected.map(({ account_id }) => account_id));
  await Promise.all(
    accountIds.map((account_id) => {
      const event: EntitlementEvent = { account_id };
      return publishOnMasters(redis, ENTITLEMENT_CHANNEL, JSON.stringify(event));
    }),
  );
}

async function publishBatch(options: PublisherOptions): Promise<number> {
  const { database, metrics } = options;
  return createTransact(database)(async (query) => {
    const rows = await query<EntitlementEvent>(TAKE_SQL, { limit: BATCH_ROWS });
    const accountIds = [...new Set(rows.map(({ account_id }) => account_id))];
    if (accountIds.length === 0) return 0;
    await announceEntitlements(query, options, accountIds);
    metrics.published.inc(accountIds.length);
    return rows.length;
  });
}
