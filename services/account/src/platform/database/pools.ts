import type { Knex } from 'knex';
import type { Logger } from '@tollgate/log';
import { openDatabase } from './database.ts';
import type { DatabaseOptions } from './database.ts';
import type { PostgresServer } from './postgres-server.ts';

type Limits = Omit<DatabaseOptions, 'server' | 'logger'>;

/** Shorter than callers' PRIVATE_API_TIMEOUT_MS, so that they get a response. */
const WITHIN_REQUEST = { acquireTimeoutMs: 1_000, statementTimeoutMs: 1_500 };

const BACKGROUND = { acquireTimeoutMs: 5_000, statementTimeoutMs: 5_000 };

const PROGRAM = { poolMax: 1, acquireTimeoutMs: 10_000, statementTimeoutMs: 30_000 };

/**
 * All pools of connections to Postgres. They are separate so that requests, revocations, events and background work
 * can't starve one another. docs/configuration.md sums up their connections.
 */
const DATABASE_POOLS = {
  /** `poolMax` is DATABASE_POOL_MAX. */
  requests: { name: 'requests', ...WITHIN_REQUEST },
  /** Revocations must not wait for requests. */
  revocations: { name: 'revocations', poolMax: 2, ...WITHIN_REQUEST },
  /** Looks for the work of all loops. */
  dueWork: { name: 'due_work', poolMax: 1, ...WITHIN_REQUEST },
  entitlementEvents: { name: 'entitlement_events', poolMax: 1, ...WITHIN_REQUEST },
  /** Usage over time: a year of many rows takes about a second. */
  usageViews: { name: 'usage_views', poolMax: 4, acquireTimeoutMs: 3_000, statementTimeoutMs: 10_000 },
  /** A connection for each export, which waits while the client reads: `poolMax` is EXPORT_LIMITS.total. */
  accountExports: {
    name: 'account_exports',
    acquireTimeoutMs: 1_000,
    statementTimeoutMs: 10_000,
    idleInTransactionTimeoutMs: 60_000,
  },
  /** Polled while a page is open. */
  liveUsage: { name: 'live_usage', poolMax: 1, ...WITHIN_REQUEST },
  /** Sums over many hours, for operators. */
  usageChecks: { name: 'usage_checks', poolMax: 2, acquireTimeoutMs: 1_000, statementTimeoutMs: 30_000 },
  /** `poolMax` is READER_CONNECTIONS. The lock timeout keeps one payer's lock from delaying the others' usage. */
  usageReader: {
    name: 'usage_reader',
    acquireTimeoutMs: 5_000,
    statementTimeoutMs: 10_000,
    lockTimeoutMs: 500,
  },
  /** A refresh holds its connection until Redis responds. */
  usageRefresher: { name: 'usage_refresher', poolMax: 1, ...WITHIN_REQUEST },
  /** Creates and drops partitions: a statement that waits for its lock blocks those behind it. */
  usageRetention: {
    name: 'usage_retention',
    poolMax: 1,
    acquireTimeoutMs: 5_000,
    statementTimeoutMs: 10_000,
    lockTimeoutMs: 1_000,
  },
  /** The records of an attack must not delay requests. */
  refusedCalls: { name: 'refused_calls', poolMax: 1, ...BACKGROUND },
  /** A renewal locks a subscription and its plan, which requests lock too. */
  renewals: { name: 'renewals', poolMax: 1, acquireTimeoutMs: 5_000, statementTimeoutMs: 1_500 },
  /** A step locks an account, of which others are skipped. */
  closing: { name: 'closing', poolMax: 4, ...BACKGROUND },
  alertDetector: { name: 'alert_detector', poolMax: 1, ...BACKGROUND },
  webhookDeliveries: { name: 'webhook_deliveries', poolMax: 2, ...BACKGROUND },
  mailsAndHousekeeping: { name: 'mails_and_housekeeping', poolMax: 2, ...BACKGROUND },
} satisfies Readonly<Record<string, Limits | Omit<Limits, 'poolMax'>>>;

export type PoolName = keyof typeof DATABASE_POOLS;

/** Of the pools whose rows have no `poolMax`. */
export type PoolSizes = Record<'requests' | 'accountExports' | 'usageReader', number>;

/** Connections open with the first statements. */
export function openPools(server: PostgresServer, sizes: PoolSizes, logger: Logger): Record<PoolName, Knex> {
  const all: Record<PoolName, Limits> = {
    ...DATABASE_POOLS,
    requests: { ...DATABASE_POOLS.requests, poolMax: sizes.requests },
    accountExports: { ...DATABASE_POOLS.accountExports, poolMax: sizes.accountExports },
    usageReader: { ...DATABASE_POOLS.usageReader, poolMax: sizes.usageReader },
  };
  const opened = Object.entries(all).map(([name, limits]) => [
    name,
    openDatabase({ server, logger, ...limits }),
  ]);
  return Object.fromEntries(opened) as Record<PoolName, Knex>;
}

/** Of the programs beside the service. */
export const PROGRAM_POOLS = {
  /** No statement timeout: a migration can take long, or wait for another one that does. */
  migrate: { ...PROGRAM, statementTimeoutMs: 0 },
  reseal: PROGRAM,
  seed: PROGRAM,
};
