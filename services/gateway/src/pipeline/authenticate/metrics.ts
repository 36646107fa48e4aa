import type { Registry } from 'prom-client';
import { createOutcomes } from '@tollgate/server/tallies';

export function createAuthenticateMetrics(registry: Registry) {
  return {
    onLookup: createOutcomes(registry, {
      name: 'tollgate_introspections_total',
      help: 'Token look-ups by outcome: malformed, hit, joined (one under way), miss',
      outcomes: ['malformed', 'hit', 'joined', 'miss'],
    }),
  };
}
