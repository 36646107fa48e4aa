import { quantiles } from './board.ts';
import type { BoardPlan } from './board.ts';
import { STORES } from './stores-board.ts';

const rate = (metric: string, by: string, selector = '') =>
  `sum by (${by}) (rate(${metric}${selector}[$__rate_interval]))`;

const total = (metric: string) => `sum(rate(${metric}[$__rate_interval]))`;

const lastDay = (metric: string, selector = '') => `sum(increase(${metric}${selector}[24h]))`;

const USAGE: BoardPlan = {
  uid: 'tollgate-usage',
  title: 'Tollgate: usage pipeline',
  rows: {
    'From the gateway to Redis': [
      {
        title: 'Settling (p99)',
        description:
          'How long the end of a response waits until Redis has the usage. The objective is 25 ms.',
        unit: 's',
        queries: quantiles('tollgate_data_call_step_duration_seconds', '', '{step="settle"}'),
      },
      {
        title: 'Settlement queue',
        description: 'Finished calls whose usage Redis has not acknowledged, by gateway.',
        unit: 'short',
        queries: { '{{instance}}': 'tollgate_settlement_queue_events' },
      },
      {
        title: 'Batches by outcome',
        description: 'repeated: it had arrived before. failed: sent again.',
        unit: 'reqps',
        queries: { '{{outcome}}': rate('tollgate_settlement_batches_total', 'outcome') },
      },
      {
        title: 'Rebuilt live counters',
        description: 'Counters in Redis that were built from account, by outcome.',
        unit: 'reqps',
        queries: { '{{outcome}}': rate('tollgate_primes_total', 'outcome') },
      },
    ],
    'From Redis to Postgres': [
      {
        title: 'Time until usage is counted',
        description:
          'From the arrival of a batch in Redis until Postgres has it. The objective is 10 s for 99.9 %.',
        unit: 's',
        queries: quantiles('tollgate_usage_count_delay_seconds'),
      },
      {
        title: 'Oldest uncounted batch',
        description: 'Age of the oldest batch that a reader found.',
        unit: 's',
        queries: { '{{instance}}': 'tollgate_usage_reader_lag_seconds' },
      },
      {
        title: 'Batches in Redis',
        description: 'Not counted yet, or counted a moment ago.',
        unit: 'short',
        queries: { batches: 'max(tollgate_usage_stream_entries)' },
      },
      {
        title: 'Streams by reader',
        description: 'How the 64 streams are divided, and streams that cannot be counted.',
        unit: 'short',
        queries: {
          'assigned to {{instance}}': 'tollgate_usage_reader_streams',
          behind: 'sum(tollgate_usage_reader_streams_behind)',
        },
      },
      {
        title: 'Counted entries and events',
        description: 'Calls of one application that finish together are one event.',
        unit: 'reqps',
        queries: {
          entries: total('tollgate_usage_reader_entries_total'),
          events: total('tollgate_usage_reader_events_total'),
          repeated: total('tollgate_usage_reader_repeated_total'),
        },
      },
      {
        title: 'Missing usage in 24 h',
        description: 'Gaps by cause. See `tollgate usage gaps`.',
        unit: 'short',
        queries: { '{{cause}}': 'sum by (cause) (increase(tollgate_usage_gaps_total[24h]))' },
      },
    ],
    'Changes on their way': [
      {
        title: 'Age of the oldest pending row',
        description: 'Of each outbox. Failed webhooks are retried for days.',
        unit: 's',
        queries: {
          revocations: 'max(tollgate_client_change_outbox_oldest_age_seconds)',
          entitlements: 'max(tollgate_entitlement_outbox_oldest_age_seconds)',
          'live counters': 'max(tollgate_usage_refresh_outbox_oldest_age_seconds)',
          mails: 'max(tollgate_mail_outbox_oldest_age_seconds)',
          webhooks: 'max(tollgate_webhook_outbox_oldest_age_seconds)',
        },
      },
      {
        title: 'Pending rows',
        description: 'Of each outbox.',
        unit: 'short',
        queries: {
          revocations: 'max(tollgate_client_change_outbox_pending)',
          entitlements: 'max(tollgate_entitlement_outbox_pending)',
          'live counters': 'max(tollgate_usage_refresh_outbox_pending)',
          mails: 'max(tollgate_mail_outbox_pending)',
          webhooks: 'max(tollgate_webhook_outbox_pending)',
        },
      },
    ],
  },
};

const BUSINESS: BoardPlan = {
  uid: 'tollgate-business',
  title: 'Tollgate: business',
  rows: {
    'Last 24 hours': [
      {
        kind: 'stat',
        title: 'Points metered',
        description: 'By all gateways.',
        unit: 'short',
        queries: { points: lastDay('tollgate_metered_points_total') },
      },
      {
        kind: 'stat',
        title: 'Calls metered',
        description: 'Calls and operations.',
        unit: 'short',
        queries: { calls: lastDay('tollgate_metered_calls_total') },
      },
      {
        kind: 'stat',
        title: 'Tokens issued',
        description: 'At the token endpoint.',
        unit: 'short',
        queries: { tokens: lastDay('tollgate_tokens_issued_total') },
      },
      {
        kind: 'stat',
        title: 'Subscriptions overdue',
        description: 'Whose next period should have begun and does not exist.',
        unit: 'short',
        queries: { overdue: 'max(tollgate_subscriptions_overdue)' },
      },
    ],
    Sales: [
      {
        title: 'Points',
        description: 'Points per second that were metered.',
        unit: 'short',
        queries: { 'points/s': total('tollgate_metered_points_total') },
      },
      {
        title: 'Refusals by limit',
        description:
          'Calls refused because a plan is used up or too small: customers who may need another one.',
        unit: 'reqps',
        queries: {
          '{{outcome}}': rate('tollgate_admissions_total', 'outcome', '{outcome!~"admitted|unavailable"}'),
        },
      },
      {
        title: 'Traffic',
        description: 'Bytes of response bodies that were metered.',
        unit: 'Bps',
        queries: { traffic: total('tollgate_metered_traffic_bytes_total') },
      },
      {
        title: 'Open subscriptions',
        description: 'Average number over the interval, from metered subscription time.',
        unit: 'short',
        queries: { open: total('tollgate_metered_subscription_seconds_total') },
      },
      {
        title: 'Renewals',
        description: 'Renewed or ended as planned, and failed attempts, in 24 h.',
        unit: 'short',
        queries: {
          renewed: lastDay('tollgate_subscription_renewals_total'),
          failed: lastDay('tollgate_subscription_renewal_failures_total'),
        },
      },
      {
        title: 'Pages and requests of customers',
        description: 'Requests to the web interface and its API.',
        unit: 'reqps',
        queries: {
          '{{status_class}}': rate(
            'tollgate_http_request_duration_seconds_count',
            'status_class',
            '{service="account",listener="public"}',
          ),
        },
      },
    ],
  },
};

export const DATA_BOARDS = [USAGE, STORES, BUSINESS];
