import type { Knex } from 'knex';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { observeCertificates } from '@tollgate/server/peer-certificates';
import { createHistogram } from '@tollgate/server/tallies';
import type { Observe } from '@tollgate/server/tallies';
import type { Client } from 'pg';
import type { Query } from './query.ts';

/** What knex's pool tells of itself. */
type Pool = { max: number; numUsed: () => number; numFree: () => number; numPendingAcquires: () => number };

/** All pools of this process, so that the function that opens one needs no registry. */
const pools = new Map<string, Pool>();
const statements = new Map<string, Observe>();
let certificateOf: ReturnType<typeof observeCertificates> | undefined;
let seriesOf: ((labels: { pool: string }) => Observe) | undefined;

export function observePool(name: string, database: Knex): void {
  pools.set(name, (database.client as { pool: Pool }).pool);
}

export function observeStatement(pool: string, durationMs: number): void {
  const observe = statements.get(pool) ?? seriesOf?.({ pool });
  if (observe === undefined) return;
  statements.set(pool, observe);
  observe(durationMs / 1_000);
}

/** pg resumes no TLS session, and idle connections are closed: some are always new. */
export function observeConnection(connection: Client): void {
  const { stream } = (connection as unknown as { connection: { stream: unknown } }).connection;
  certificateOf?.('postgres', `${connection.host}:${String(connection.port)}`)(stream);
}

/** Metrics of this process' pools, and of the database, which are the same from every replica. */
export function observePostgres(registry: Registry, query: Query): void {
  const registers = [registry];
  statements.clear();
  certificateOf = observeCertificates(registry);
  seriesOf = createHistogram(registry, {
    name: 'tollgate_postgres_statement_duration_seconds',
    help: 'Time of a statement, by pool',
    labelNames: ['pool'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const poolGauge = (name: string, help: string, read: (pool: Pool) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [pool, state] of pools) this.set({ pool }, read(state));
      },
    });
  poolGauge('tollgate_postgres_pool_connections_used', 'Connections in use', (pool) => pool.numUsed());
  poolGauge('tollgate_postgres_pool_connections_idle', 'Open connections that are idle', (pool) =>
    pool.numFree(),
  );
  poolGauge('tollgate_postgres_pool_connections_max', 'Size of the pool', (pool) => pool.max);
  poolGauge('tollgate_postgres_pool_waiting', 'Statements that wait for a connection', (pool) =>
    pool.numPendingAcquires(),
  );
  observeDatabase(registers, query);
}

type Facts = Record<
  'size' | 'connections' | 'max' | 'deadlocks' | 'commits' | 'rollbacks' | 'hits' | 'reads',
  number
>;

const FACTS_SQL = `
  SELECT CAST(pg_database_size(datid) AS float8) AS size, numbackends AS connections,
         CAST(current_setting('max_connections') AS int) AS max, CAST(deadlocks AS float8) AS deadlocks,
         CAST(xact_commit AS float8) AS commits, CAST(xact_rollback AS float8) AS rollbacks,
         CAST(blks_hit AS float8) AS hits, CAST(blks_read AS float8) AS reads
  FROM pg_stat_database WHERE datname = current_database()`;

function observeDatabase(registers: Registry[], query: Query): void {
  // One scrape collects all metrics at once, and reads once.
  let reading: Promise<void> | undefined;
  const collect = () =>
    (reading ??= readFacts().finally(() => {
      reading = undefined;
    }));
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `tollgate_postgres_${name}`, help, registers, collect });
  const counter = (name: string, help: string, label?: string) =>
    new Counter({
      name: `tollgate_postgres_${name}`,
      help,
      ...(label === undefined ? {} : { labelNames: [label] }),
      registers,
      collect,
    });
  const connections = gauge('connections', 'Connections to the database, of all clients');
  const connectionsMax = gauge('connections_max', 'max_connections of the server');
  const deadlocks = counter('deadlocks_total', 'Deadlocks in the database');
  const transactions = counter(
    'transactions_total',
    'Transactions by outcome: committed, rolled_back',
    'outcome',
  );
  const blocks = counter(
    'block_reads_total',
    'Blocks read by source: cache (shared buffers), system',
    'source',
  );
  const size = gauge('database_size_bytes', 'Size of the database');

  async function readFacts(): Promise<void> {
    const [facts] = await query<Facts>(FACTS_SQL).catch(() => []);
    if (facts === undefined) return;
    size.set(facts.size);
    connections.set(facts.connections);
    connectionsMax.set(facts.max);
    for (const each of [deadlocks, transactions, blocks]) each.reset();
    deadlocks.inc(facts.deadlocks);
    transactions.inc({ outcome: 'committed' }, facts.commits);
    transactions.inc({ outcome: 'rolled_back' }, facts.rollbacks);
    blocks.inc({ source: 'cache' }, facts.hits);
    blocks.inc({ source: 'system' }, facts.reads);
  }
}
