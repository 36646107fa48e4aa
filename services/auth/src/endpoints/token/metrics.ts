import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { createLatencies } from '../latencies.ts';

/** Label values are all from fixed sets. */
export function createTokenMetrics(registry: Registry) {
  const registers = [registry];
  const issued = new Counter({
    name: 'tollgate_tokens_issued_total',
    help: 'Access tokens issued at the token endpoint',
    registers,
  });
  const refused = new Counter({
    name: 'tollgate_token_requests_refused_total',
    help: 'Token requests answered with an error, by its RFC 6749 code',
    labelNames: ['error'],
    registers,
  });
  const observe = createLatencies(registry, {
    name: 'tollgate_token_request_duration_seconds',
    help: 'Time of a token request from its headers to its response, by outcome: issued, or its RFC 6749 error',
  });
  return {
    /** Of revocation requests, too. */
    onRefused: (error: string) => {
      refused.inc({ error });
    },
    /** `outcome`: `issued`, or the RFC 6749 error. */
    onAnswered: (outcome: string, durationMs: number) => {
      if (outcome === 'issued') issued.inc();
      observe(outcome, durationMs);
    },
  };
}
