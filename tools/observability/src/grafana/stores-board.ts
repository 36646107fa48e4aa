import type { BoardPlan } from './board.ts';

export const STORES: BoardPlan = {
  uid: 'tollgate-stores',
  title: 'Tollgate: Postgres and Redis',
  rows: {
    Reachable: [
      {
        title: 'Dependencies',
        description: '0 while an instance does not reach it.',
        unit: 'short',
        queries: { '{{service}} → {{dependency}}': 'min by (service, dependency) (tollgate_dependency_up)' },
      },
      {
        title: 'Clock skew',
        description: "How far a process' clock is ahead of the reference's. More than 1 s raises an alert.",
        unit: 's',
        queries: { '{{service}} {{instance}} − {{reference}}': 'tollgate_clock_skew_seconds' },
      },
    ],
    Certificates: [
      {
        title: 'Time until certificates expire',
        description: 'Of what the services reach with TLS. Empty without TLS. 14 and 3 days raise alerts.',
        unit: 's',
        queries: {
          '{{peer}} {{address}}':
            'max by (peer, address) (tollgate_tls_certificate_expiry_timestamp_seconds) - time()',
        },
      },
    ],
    Postgres: [
      {
        title: 'Duration of statements (p99)',
        description: 'By pool of account.',
        unit: 's',
        queries: {
          '{{pool}}':
            'histogram_quantile(0.99, sum by (le, pool) (rate(tollgate_postgres_statement_duration_seconds_bucket[$__rate_interval])))',
        },
      },
      {
        title: 'Use of the pools',
        description: 'Share of a pool’s connections in use. At 100 % statements wait.',
        unit: 'percentunit',
        queries: {
          '{{pool}}':
            'sum by (pool) (tollgate_postgres_pool_connections_used) / sum by (pool) (tollgate_postgres_pool_connections_max)',
        },
      },
      {
        title: 'Statements that wait for a connection',
        description: 'By pool. Anything but short peaks delays requests.',
        unit: 'short',
        queries: { '{{pool}}': 'sum by (pool) (tollgate_postgres_pool_waiting)' },
      },
      {
        title: 'Connections of the server',
        description: 'Connections to the database, and max_connections.',
        unit: 'short',
        queries: {
          connections: 'max(tollgate_postgres_connections)',
          max_connections: 'max(tollgate_postgres_connections_max)',
        },
      },
      {
        title: 'Transactions',
        description: 'By outcome.',
        unit: 'reqps',
        queries: {
          '{{outcome}}': 'max by (outcome) (rate(tollgate_postgres_transactions_total[$__rate_interval]))',
        },
      },
      {
        title: 'Buffer cache hit ratio',
        description: 'Blocks read from shared buffers. Below 99 % Postgres may need more memory.',
        unit: 'percentunit',
        queries: {
          'hit ratio':
            'max(rate(tollgate_postgres_block_reads_total{source="cache"}[$__rate_interval])) / sum(max by (source) (rate(tollgate_postgres_block_reads_total[$__rate_interval])))',
        },
      },
      {
        title: 'Size of the database',
        description: 'Tables and indexes.',
        unit: 'bytes',
        queries: { size: 'max(tollgate_postgres_database_size_bytes)' },
      },
      {
        title: 'Deadlocks in 24 h',
        description: 'Should stay 0.',
        unit: 'short',
        queries: { deadlocks: 'max(increase(tollgate_postgres_deadlocks_total[24h]))' },
      },
    ],
    Redis: [
      {
        title: 'Memory',
        description: 'Allocated memory, and maxmemory if there is one.',
        unit: 'bytes',
        queries: {
          'used {{server}}': 'max by (server) (tollgate_redis_memory_used_bytes)',
          'max {{server}}': 'max by (server) (tollgate_redis_memory_max_bytes) > 0',
        },
      },
      {
        title: 'Commands',
        description: 'Run by each master.',
        unit: 'ops',
        queries: { '{{server}}': 'max by (server) (rate(tollgate_redis_commands_total[$__rate_interval]))' },
      },
      {
        title: 'Clients',
        description: 'Connections to each master.',
        unit: 'short',
        queries: { '{{server}}': 'max by (server) (tollgate_redis_clients_connected)' },
      },
      {
        title: 'Evicted keys and failed disk writes',
        description: 'Both must stay 0: Redis holds tokens, revocations and uncounted usage.',
        unit: 'short',
        queries: {
          'evicted {{server}}': 'max by (server) (increase(tollgate_redis_evicted_keys_total[1h]))',
          'disk failing {{server}}': '1 - min by (server) (tollgate_redis_aof_write_ok)',
        },
      },
      {
        title: 'Reconnections',
        description: 'By service, in 15 minutes.',
        unit: 'short',
        queries: { '{{service}}': 'sum by (service) (increase(tollgate_redis_reconnects_total[15m]))' },
      },
      {
        title: 'Uptime',
        description: 'Time since each master started.',
        unit: 's',
        queries: { '{{server}}': 'max by (server) (tollgate_redis_uptime_seconds)' },
      },
    ],
  },
};
