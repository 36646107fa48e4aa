import type { DatabaseOptions } from '../platform/database/database.ts';

type Limits = Omit<DatabaseOptions, 'url' | 'logger'>;

/** Shorter than callers' PRIVATE_API_TIMEOUT_MS, so that they get a response. */
const WITHIN_REQUEST = { acquireTimeoutMs: 1_000, statementTimeoutMs: 1_500 };

const BACKGROUND = { acquireTimeoutMs: 5_000, statementTimeoutMs: 5_000 };

const PROGRAM = { poolMax: 1, acquireTimeoutMs: 10_000, statementTimeoutMs: 30_000 };

/**
 * All pools of connections to Postgres. They are separate so that requests, revocations, events and background work
 * can't starve one another. docs/configuration.md sums up their connections.
 */
export const DATABASE_POOLS = {
  /** `poolMax` is DATABASE_POOL_MAX. */
  requests: WITHIN_REQUEST,
  /** Revocations must not wait for requests. */
  revocations: { poolMax: 2, ...WITHIN_REQUEST },
  entitlementEvents: { poolMax: 1, ...WITHIN_REQUEST },
  /** Usage over time: a year of many rows takes about a second. */
  usageViews: { poolMax: 4, acquireTimeoutMs: 3_000, statementTimeoutMs: 10_000 },
  /** Polled while a page is open. */
  liveUsage: { poolMax: 1, ...WITHIN_REQUEST },
  /** Sums over many hours, for operators. */
  usageChecks: { poolMax: 2, acquireTimeoutMs: 1_000, statementTimeoutMs: 30_000 },
  /** `poolMax` is READER_CONNECTIONS. The lock timeout keeps one payer's lock from delaying the others' usage. */
  usageReader: { acquireTimeoutMs: 5_000, statementTimeoutMs: 10_000, lockTimeoutMs: 500 },
  /** A refresh holds its connection until Redis responds. */
  usageRefresher: { poolMax: 1, ...WITHIN_REQUEST },
  /** Creates and drops partitions: a statement that waits for its lock blocks those behind it. */
  usageRetention: { poolMax: 1, acquireTimeoutMs: 5_000, statementTimeoutMs: 10_000, lockTimeoutMs: 1_000 },
  /** The records of an attack must not delay requests. */
  refusedCalls: { poolMax: 1, ...BACKGROUND },
  /** A renewal locks a subscription and its plan, which requests lock too. */
  renewals: { poolMax: 1, acquireTimeoutMs: 5_000, statementTimeoutMs: 1_500 },
  alertDetector: { poolMax: 1, ...BACKGROUND },
  webhookDeliveries: { poolMax: 2, ...BACKGROUND },
  mailsAndHousekeeping: { poolMax: 2, ...BACKGROUND },
  /** No statement timeout: a migration can take long, or wait for another one that does. */
  migrate: { ...PROGRAM, statementTimeoutMs: 0 },
  reseal: PROGRAM,
  seed: PROGRAM,
} satisfies Readonly<Record<string, Limits | Omit<Limits, 'poolMax'>>>;
