import { quantiles } from './board.ts';
import type { BoardPlan } from './board.ts';

const rate = (metric: string, by: string, selector = '') =>
  `sum by (${by}) (rate(${metric}${selector}[$__rate_interval]))`;

const hitRatio = (metric: string) =>
  `sum(rate(${metric}{outcome=~"hit|joined"}[$__rate_interval])) / sum(rate(${metric}{outcome=~"hit|joined|miss"}[$__rate_interval]))`;

/** How much faster than allowed the error budget is used. */
const burn = (objective: string, budget: string) => `tollgate:${objective}_errors:ratio_rate1h / ${budget}`;

const GATEWAY: BoardPlan = {
  uid: 'tollgate-gateway',
  title: 'Tollgate: gateway',
  rows: {
    'Service levels': [
      {
        title: 'Burn rate',
        description:
          'How many times faster than allowed the error budget is used, over the last hour. 1 uses it up in 30 days.',
        unit: 'short',
        queries: {
          availability: burn('availability', '0.001'),
          'added latency': burn('added_latency', '0.01'),
          'usage lag': burn('usage_lag', '0.001'),
          'revocation lag': burn('revocation_lag', '0.001'),
        },
      },
      {
        title: 'Data calls by outcome',
        description: 'answered, aborted by the caller, or the code of the refusal or failure.',
        unit: 'reqps',
        queries: { '{{outcome}}': rate('tollgate_data_calls_total', 'outcome') },
      },
    ],
    'Data calls': [
      {
        title: 'Duration',
        description: "From a call's head to the end of its response, the upstream's time included.",
        unit: 's',
        queries: quantiles('tollgate_data_call_duration_seconds'),
      },
      {
        title: 'Added before forwarding',
        description: 'Authenticate, entitle and admit together. The objective is 25 ms for 99 %.',
        unit: 's',
        queries: quantiles('tollgate_data_call_preparation_duration_seconds'),
      },
      {
        title: 'Steps of a call (p99)',
        description:
          'The slow step says where to look: authenticate is auth, entitle is account, admit and settle are Redis, forward is the upstream.',
        unit: 's',
        queries: {
          '{{step}}':
            'histogram_quantile(0.99, sum by (le, step) (rate(tollgate_data_call_step_duration_seconds_bucket[$__rate_interval])))',
        },
      },
      {
        title: 'In flight',
        description: 'Calls under way, and calls whose caller has gone while the price is awaited.',
        unit: 'short',
        queries: {
          'in flight': 'sum(tollgate_data_calls_in_flight)',
          abandoned: 'sum(tollgate_data_calls_abandoned)',
          'slots held': 'sum(tollgate_leases_held)',
        },
      },
      {
        title: 'Limit refusals by kind',
        description:
          'Admissions that were refused, by the limit of the plan; `unavailable` is Redis or account.',
        unit: 'reqps',
        queries: { '{{outcome}}': rate('tollgate_admissions_total', 'outcome', '{outcome!="admitted"}') },
      },
      {
        title: 'Cache hit ratio',
        description: 'Look-ups answered without asking auth or account.',
        unit: 'percentunit',
        queries: {
          introspections: hitRatio('tollgate_introspections_total'),
          entitlements: hitRatio('tollgate_entitlements_total'),
        },
      },
    ],
    Upstream: [
      {
        title: "Time to the response's head",
        description: 'By address of the upstream.',
        unit: 's',
        queries: quantiles('tollgate_upstream_headers_duration_seconds', 'address'),
      },
      {
        title: 'Healthy addresses',
        description: '0 while an address is ejected because its calls failed.',
        unit: 'short',
        queries: {
          '{{api_version}} {{address}}': 'min by (api_version, address) (tollgate_upstream_healthy)',
        },
      },
    ],
    'WebSockets and other routes': [
      {
        title: 'WebSockets and operations',
        description: 'Open sockets, and operations that have begun and not ended.',
        unit: 'short',
        queries: {
          sockets: 'sum(tollgate_websockets_open)',
          operations: 'sum(tollgate_websocket_operations_open)',
        },
      },
      {
        title: 'Requests to other routes',
        description: 'By listener, route and class of the status, over all services.',
        unit: 'reqps',
        queries: {
          '{{service}} {{listener}} {{route}} {{status_class}}': rate(
            'tollgate_http_request_duration_seconds_count',
            'service, listener, route, status_class',
          ),
        },
      },
    ],
    Processes: [
      {
        title: 'Event loop lag (p99)',
        description:
          'How late callbacks run. More than 0.2 s means that the process needs a core of its own, or a replica.',
        unit: 's',
        queries: {
          '{{service}} {{instance}}':
            'nodejs_eventloop_lag_p99_seconds{service=~"gateway|auth|account"} - 0.5',
        },
      },
      {
        title: 'Memory',
        description: 'Resident memory and used heap.',
        unit: 'bytes',
        queries: {
          'resident {{service}} {{instance}}':
            'process_resident_memory_bytes{service=~"gateway|auth|account"}',
          'heap {{service}} {{instance}}': 'nodejs_heap_size_used_bytes{service=~"gateway|auth|account"}',
        },
      },
      {
        title: 'CPU',
        description: 'Cores in use.',
        unit: 'short',
        queries: {
          '{{service}} {{instance}}':
            'rate(process_cpu_seconds_total{service=~"gateway|auth|account"}[$__rate_interval])',
        },
      },
      {
        title: 'Versions',
        description: 'Instances by service and version.',
        unit: 'short',
        queries: { '{{service}} {{version}}': 'count by (service, version) (tollgate_build_info)' },
      },
    ],
  },
};

const TOKENS: BoardPlan = {
  uid: 'tollgate-tokens',
  title: 'Tollgate: tokens',
  rows: {
    Tokens: [
      {
        title: 'Token requests by outcome',
        description: 'issued, or the RFC 6749 error.',
        unit: 'reqps',
        queries: { '{{outcome}}': rate('tollgate_token_request_duration_seconds_count', 'outcome') },
      },
      {
        title: 'Duration of token requests',
        description: 'From the headers of the request to its response.',
        unit: 's',
        queries: quantiles('tollgate_token_request_duration_seconds'),
      },
      {
        title: 'Introspections by outcome',
        description:
          'Asked by gateways and account on a cache miss. `failed` means that Redis or account is unavailable.',
        unit: 'reqps',
        queries: { '{{outcome}}': rate('tollgate_introspections_total', 'outcome', '{service="auth"}') },
      },
      {
        title: 'Duration of introspections',
        description: 'After the form is read.',
        unit: 's',
        queries: quantiles('tollgate_introspection_duration_seconds'),
      },
    ],
    Revocations: [
      {
        title: 'Revocation lag',
        description:
          'From the commit of a change until auth has acknowledged it. The objective is 1 s for 99.9 %.',
        unit: 's',
        queries: quantiles('tollgate_revocation_lag_seconds'),
      },
      {
        title: 'Waiting changes',
        description: 'Changes of applications that auth has not acknowledged, and the age of the oldest.',
        unit: 'short',
        queries: {
          pending: 'max(tollgate_client_change_outbox_pending)',
          'oldest (s)': 'max(tollgate_client_change_outbox_oldest_age_seconds)',
        },
      },
      {
        title: 'Trusted caches',
        description:
          'Gateways whose caches may answer. A gateway that may have missed a change asks for every call.',
        unit: 'short',
        queries: { '{{cache}}': 'sum by (cache) (tollgate_cache_trusted)' },
      },
      {
        title: 'Manual tokens being restored',
        description: '1 while auth loads manual tokens into a Redis that lacks them.',
        unit: 'short',
        queries: { restoring: 'max(tollgate_restoring)' },
      },
    ],
  },
};

export const BOARDS = [GATEWAY, TOKENS];
