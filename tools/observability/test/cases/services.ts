import type { AlertCases } from './case.ts';

const BUILT = { account: '1x20', auth: '1x20', gateway: '1x20' };

const built = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(values).map(([service, samples]) => [
      `tollgate_build_info{service="${service}",version="1.0.0",job="t",instance="${service}"}`,
      samples,
    ]),
  );

/** Of one upstream, as two gateways have seen it: the first one before it was renewed. Time begins at 0. */
const certificates = (daysOnFirst: number, daysOnSecond: number) =>
  Object.fromEntries(
    [daysOnFirst, daysOnSecond].map((days, index) => [
      `tollgate_tls_certificate_expiry_timestamp_seconds{peer="upstream",address="https://a",instance="${String(index)}"}`,
      `${String(days * 86_400)}x30`,
    ]),
  );

export const SERVICE_CASES: AlertCases = {
  TollgateServiceDown: { at: '10m', fires: built({ account: '1x20', gateway: '1x20' }), quiet: built(BUILT) },
  TollgateNoWorkers: {
    at: '10m',
    fires: built(BUILT),
    quiet: { ...built(BUILT), 'tollgate_usage_reader_streams{instance="account"}': '64x20' },
  },
  TollgateTargetDown: {
    at: '20m',
    fires: { ...built({ auth: '1x3 _x20' }), 'up{job="t",instance="auth"}': '1x3 0x20' },
    // A foreign target is not ours to report.
    quiet: { ...built(BUILT), 'up{job="t",instance="auth"}': '1x20', 'up{job="t",instance="other"}': '0x20' },
  },
  TollgateRestarting: {
    at: '20m',
    fires: { 'process_start_time_seconds{service="auth"}': '1 1 2 2 3 3 4 4x20' },
    quiet: { 'process_start_time_seconds{service="auth"}': '1 1 2 2x20' },
  },
  TollgateVersionsDiffer: {
    at: '90m',
    fires: {
      'tollgate_build_info{service="auth",version="1.0.0"}': '1x100',
      'tollgate_build_info{service="auth",version="1.1.0"}': '1x100',
    },
    quiet: {
      'tollgate_build_info{service="auth",version="1.0.0"}': '1x20 _x80',
      'tollgate_build_info{service="auth",version="1.1.0"}': '_x10 1x90',
    },
  },
  TollgateEventLoopBlocked: {
    at: '15m',
    fires: { 'nodejs_eventloop_lag_p99_seconds{service="gateway"}': '0.71x20' },
    quiet: {
      'nodejs_eventloop_lag_p99_seconds{service="gateway"}': '0.69x20',
      'nodejs_eventloop_lag_p99_seconds{service="foreign"}': '5x20',
    },
  },
  TollgateClockSkew: {
    at: '10m',
    fires: { 'tollgate_clock_skew_seconds{reference="redis"}': '-1.5x20' },
    quiet: { 'tollgate_clock_skew_seconds{reference="redis"}': '-0.4x20' },
  },
  TollgateCertificateExpiresSoon: { at: '20m', fires: certificates(13, 12), quiet: certificates(13, 15) },
  TollgateCertificateExpires: { at: '20m', fires: certificates(2, 2), quiet: certificates(2, 4) },
  TollgateCacheUntrusted: {
    at: '5m',
    fires: { 'tollgate_cache_trusted{cache="introspection"}': '0x20' },
    quiet: { 'tollgate_cache_trusted{cache="introspection"}': '1 1 1 0 1 1 1' },
  },
  TollgateSettlementBacklog: {
    at: '5m',
    fires: { tollgate_settlement_queue_events: '5000x20' },
    quiet: { tollgate_settlement_queue_events: '40x20' },
  },
  TollgatePrimesFailing: {
    at: '15m',
    fires: {
      'tollgate_primes_total{outcome="failed"}': '0+6x20',
      'tollgate_primes_total{outcome="primed"}': '0x20',
    },
    quiet: {
      'tollgate_primes_total{outcome="failed"}': '3x20',
      'tollgate_primes_total{outcome="primed"}': '0+6x20',
    },
  },
  TollgateUpstreamEjected: {
    at: '5m',
    fires: { 'tollgate_upstream_healthy{api_version="v2",address="http://a"}': '0x20' },
    quiet: { 'tollgate_upstream_healthy{api_version="v2",address="http://a"}': '1 1 1 1 0 1 1' },
  },
  TollgateUpstreamFailing: {
    at: '15m',
    fires: {
      'tollgate_upstream_failures_total{api_version="v2",address="a",kind="connect"}': '0+10x20',
      'tollgate_upstream_headers_duration_seconds_count{api_version="v2",address="a"}': '0+60x20',
    },
    quiet: {
      'tollgate_upstream_failures_total{api_version="v2",address="a",kind="connect"}': '0+1x20',
      'tollgate_upstream_headers_duration_seconds_count{api_version="v2",address="a"}': '0+60x20',
    },
  },
  TollgateUnpricedAnswers: {
    at: '10m',
    fires: {
      'tollgate_unpriced_answers_total{api_version="v2",address="a",reason="missing"}': '0 0 3 3 3x20',
    },
    quiet: { 'tollgate_unpriced_answers_total{api_version="v2",address="a",reason="missing"}': '3x20' },
  },
  TollgateSchemaUnreadable: {
    at: '20m',
    fires: { 'tollgate_schema_age_seconds{api_version="v2"}': '0+60x30' },
    quiet: { 'tollgate_schema_age_seconds{api_version="v2"}': '20x30' },
  },
  TollgateDocumentsUnreadable: {
    at: '20m',
    fires: { 'tollgate_documents_age_seconds{api_version="v2"}': '0+60x30' },
    quiet: { 'tollgate_documents_age_seconds{api_version="v2"}': '20x30' },
  },
  TollgateRestoring: {
    at: '20m',
    fires: { 'tollgate_restoring{service="auth"}': '1x30' },
    quiet: { 'tollgate_restoring{service="auth"}': '1x5 0x30' },
  },
  TollgateClientChangeOutboxOld: {
    at: '5m',
    fires: { tollgate_client_change_outbox_oldest_age_seconds: '0+60x20' },
    quiet: { tollgate_client_change_outbox_oldest_age_seconds: '0.2x20' },
  },
  TollgateEntitlementOutboxOld: {
    at: '5m',
    fires: { tollgate_entitlement_outbox_oldest_age_seconds: '0+60x20' },
    quiet: { tollgate_entitlement_outbox_oldest_age_seconds: '0.2x20' },
  },
};
