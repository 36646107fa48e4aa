import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** auth's own counters; the labels' values are all from fixed sets. */
export function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
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
      help: 'Requests answered with 429, by limit: address or pair (failed attempts), client or introspection',
      labelNames: ['limit'],
      registers,
    }),
    introspections: new Counter({
      name: 'tollgate_introspections_total',
      help: 'Introspections by outcome: active, inactive, malformed (no token of ours) or failed (Redis away)',
      labelNames: ['outcome'],
      registers,
    }),
  };
}
