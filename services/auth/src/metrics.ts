import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { createHistogram, createOutcomes } from '@tollgate/server/tallies';
import type { Observe } from '@tollgate/server/tallies';

export type Metrics = ReturnType<typeof createMetrics>;

const LATENCY_BUCKETS_SEC = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Label values are all from fixed sets. */
export function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    restoring: new Gauge({
      name: 'tollgate_restoring',
      help: '1 while manual tokens are being loaded into a Redis that lacks them, else 0',
      registers,
    }),
    tokensIssued: new Counter({
      name: 'tollgate_tokens_issued_total',
      help: 'Access tokens issued at the token endpoint',
      registers,
    }),
    tokenRequestsRefused: new Counter({
      name: 'tollgate_token_requests_refused_total',
      help: 'Token requests answered with an error, by its RFC 6749 code',
      labelNames: ['error'],
      registers,
    }),
    limited: new Counter({
      name: 'tollgate_requests_limited_total',
      help: 'Requests answered with 429, by limit: address or pair (failed attempts), client, introspection or revocation',
      labelNames: ['limit'],
      registers,
    }),
    introspected: createOutcomes(registry, {
      name: 'tollgate_introspections_total',
      help: 'Introspections by outcome: active, inactive, malformed (not one of our tokens) or failed (Redis or account unavailable)',
      outcomes: ['active', 'inactive', 'malformed', 'failed'],
    }),
    tokenRequestDuration: latency(
      'tollgate_token_request_duration_seconds',
      'Time of a token request from its headers to its response, by outcome: issued, or its RFC 6749 error',
    ),
    introspectionDuration: latency(
      'tollgate_introspection_duration_seconds',
      'Time of an introspection after its form is read, by the outcomes of tollgate_introspections_total',
    ),
  };

  function latency(name: string, help: string) {
    const histogram = createHistogram(registry, {
      name,
      help,
      labelNames: ['outcome'],
      buckets: LATENCY_BUCKETS_SEC,
    });
    const series = new Map<string, Observe>();
    return (outcome: string, durationMs: number): void => {
      const observe = series.get(outcome) ?? histogram({ outcome });
      series.set(outcome, observe);
      observe(durationMs / 1_000);
    };
  }
}
