import type { AlertCases } from './case.ts';

export const DATA_CASES: AlertCases = {
  TollgateUsageLagging: {
    at: '15m',
    fires: { tollgate_usage_reader_lag_seconds: '0+60x20' },
    quiet: { tollgate_usage_reader_lag_seconds: '2 90 2 1x20' },
  },
  TollgateUsageBacklog: {
    at: '20m',
    fires: { tollgate_usage_stream_entries: '200000x30' },
    quiet: { tollgate_usage_stream_entries: '300x30' },
  },
  TollgateUsageStreamsBehind: {
    at: '5m',
    fires: { tollgate_usage_reader_streams_behind: '2x20' },
    quiet: { tollgate_usage_reader_streams_behind: '0x20' },
  },
  TollgateUsageLost: {
    at: '10m',
    fires: { 'tollgate_usage_gaps_total{cause="batches_missing"}': '0 0 0 1x20' },
    quiet: { 'tollgate_usage_gaps_total{cause="batches_missing"}': '1x20' },
  },
  TollgateUsageUnassigned: {
    at: '10m',
    fires: { 'tollgate_usage_reader_unassigned_total{reason="unknown_period"}': '0 0 0 4x20' },
    quiet: { 'tollgate_usage_reader_unassigned_total{reason="unknown_period"}': '4x20' },
  },
  TollgateLiveCountersStale: {
    at: '5m',
    fires: { tollgate_usage_refresh_outbox_oldest_age_seconds: '0+60x20' },
    quiet: { tollgate_usage_refresh_outbox_oldest_age_seconds: '0.5x20' },
  },
  TollgateRetentionFailing: {
    at: '90m',
    fires: { tollgate_usage_retention_failures_total: '0+1x100', tollgate_usage_months_ahead: '2x100' },
    quiet: { tollgate_usage_retention_failures_total: '1x100', tollgate_usage_months_ahead: '2x100' },
  },
  TollgatePostgresUnreachable: {
    at: '5m',
    fires: { 'tollgate_dependency_up{dependency="postgres",instance="a"}': '0x20' },
    quiet: {
      'tollgate_dependency_up{dependency="postgres",instance="a"}': '0x20',
      'tollgate_dependency_up{dependency="postgres",instance="b"}': '1x20',
    },
  },
  TollgatePostgresPoolExhausted: {
    at: '10m',
    fires: { 'tollgate_postgres_pool_waiting{pool="requests"}': '3x20' },
    quiet: { 'tollgate_postgres_pool_waiting{pool="requests"}': '3 3 3 0 3 3 3 0 3 3 3' },
  },
  TollgatePostgresConnectionsHigh: {
    at: '15m',
    fires: { tollgate_postgres_connections: '95x20', tollgate_postgres_connections_max: '100x20' },
    quiet: { tollgate_postgres_connections: '30x20', tollgate_postgres_connections_max: '100x20' },
  },
  TollgatePostgresDeadlocks: {
    at: '20m',
    fires: { tollgate_postgres_deadlocks_total: '0+1x20' },
    quiet: { tollgate_postgres_deadlocks_total: '0x10 1x20' },
  },
  TollgateRedisUnreachable: {
    at: '5m',
    fires: {
      'tollgate_dependency_up{dependency="redis",service="gateway",instance="a"}': '0x20',
      'tollgate_dependency_up{dependency="redis",service="gateway",instance="b"}': '1x20',
    },
    quiet: { 'tollgate_dependency_up{dependency="redis",service="gateway",instance="a"}': '1x20' },
  },
  TollgateRedisMemoryHigh: {
    at: '10m',
    fires: {
      'tollgate_redis_memory_used_bytes{server="r"}': '90x20',
      'tollgate_redis_memory_max_bytes{server="r"}': '100x20',
    },
    // Without maxmemory there is nothing to compare with.
    quiet: {
      'tollgate_redis_memory_used_bytes{server="r"}': '90x20',
      'tollgate_redis_memory_max_bytes{server="r"}': '0x20',
    },
  },
  TollgateRedisEviction: {
    at: '10m',
    fires: { 'tollgate_redis_evicted_keys_total{server="r"}': '0 0 5x20' },
    quiet: { 'tollgate_redis_evicted_keys_total{server="r"}': '0x20' },
  },
  TollgateRedisDiskFailing: {
    at: '5m',
    fires: { 'tollgate_redis_aof_write_ok{server="r"}': '0x20' },
    quiet: { 'tollgate_redis_aof_write_ok{server="r"}': '1x20' },
  },
  TollgateRedisReconnecting: {
    at: '20m',
    fires: { 'tollgate_redis_reconnects_total{service="gateway"}': '0+2x30' },
    quiet: { 'tollgate_redis_reconnects_total{service="gateway"}': '0 0 0 1 1x30' },
  },
  TollgateMailOutboxOld: {
    at: '30m',
    fires: { tollgate_mail_outbox_oldest_age_seconds: '0+60x60' },
    quiet: { tollgate_mail_outbox_oldest_age_seconds: '3x60' },
  },
  TollgateAuditStreamOld: {
    at: '30m',
    fires: { tollgate_audit_stream_oldest_age_seconds: '0+60x60' },
    quiet: { tollgate_audit_stream_oldest_age_seconds: '3x60' },
  },
  TollgateWebhooksFailing: {
    at: '90m',
    fires: {
      'tollgate_webhook_outbox_deliveries_total{outcome="delivered"}': '0x100',
      'tollgate_webhook_outbox_deliveries_total{outcome="retried"}': '0+5x100',
    },
    // One receiver of many that is down.
    quiet: {
      'tollgate_webhook_outbox_deliveries_total{outcome="delivered"}': '0+5x100',
      'tollgate_webhook_outbox_deliveries_total{outcome="retried"}': '0+5x100',
    },
  },
  TollgateRenewalsOverdue: {
    at: '45m',
    fires: { tollgate_subscriptions_overdue: '2x60' },
    quiet: { tollgate_subscriptions_overdue: '2x5 0x60' },
  },
  TollgateClosingOverdue: {
    at: '75m',
    fires: { 'tollgate_closing_oldest_due_seconds{step="period"}': '0+60x120' },
    quiet: { 'tollgate_closing_oldest_due_seconds{step="period"}': '0+60x40 0x80' },
  },
  TollgateClosingFailing: {
    at: '45m',
    fires: { 'tollgate_closing_failures_total{step="cut"}': '0+1x60' },
    // A step that failed once.
    quiet: { 'tollgate_closing_failures_total{step="cut"}': '0x10 1x60' },
  },
  TollgateClosingStopped: {
    at: '20m',
    fires: { tollgate_closing_stopped: '1x40' },
    quiet: { tollgate_closing_stopped: '1x10 0x40' },
  },
  TollgateCreditsDiffer: {
    at: '30m',
    fires: { tollgate_credit_differences_total: '0x10 1x60' },
    // Found long ago: the difference remains.
    quiet: { tollgate_credit_differences_total: '1x60' },
  },
  TollgatePaymentEventsRefused: {
    at: '90m',
    fires: { 'tollgate_payment_events_total{type="unknown",outcome="refused"}': '0+1x100' },
    quiet: { 'tollgate_payment_events_total{type="unknown",outcome="received"}': '0+1x100' },
  },
  TollgatePaymentEventsOld: {
    at: '30m',
    fires: { tollgate_payment_events_oldest_age_seconds: '0+60x40' },
    quiet: { tollgate_payment_events_oldest_age_seconds: '0+60x10 0x40' },
  },
  TollgatePaymentsNotReconciled: {
    at: '200m',
    fires: { tollgate_payment_reconciliation_age_seconds: '0+60x220' },
    quiet: { tollgate_payment_reconciliation_age_seconds: '0+60x70 0+60x150' },
  },
  TollgatePaymentDifferences: {
    at: '60m',
    fires: { tollgate_payment_differences_total: '0x30 1x60' },
    quiet: { tollgate_payment_differences_total: '1x90' },
  },
  TollgatePaymentIssues: {
    at: '30m',
    fires: { tollgate_payment_issues: '1x40' },
    quiet: { tollgate_payment_issues: '1x5 0x40' },
  },
  TollgateTopUpsFailing: {
    at: '40m',
    fires: { tollgate_top_up_failures_total: '0+1x60' },
    quiet: { tollgate_top_up_failures_total: '0x10 1x60' },
  },
  TollgateSignUpPlanMissing: {
    at: '10m',
    fires: { tollgate_sign_up_plan_missing: '1x20' },
    quiet: { tollgate_sign_up_plan_missing: '0x20' },
  },
};
