import type { Registry } from 'prom-client';
import { createOutcomes } from '@tollgate/server/tallies';

export function createEntitleMetrics(registry: Registry) {
  return {
    onLookup: createOutcomes(registry, {
      name: 'tollgate_entitlements_total',
      help: 'Entitlement look-ups by outcome: hit, joined (one under way), miss, stale (served while account is unavailable)',
      outcomes: ['hit', 'joined', 'miss', 'stale'],
    }),
    onLoaded: createOutcomes(registry, {
      name: 'tollgate_entitlement_loads_total',
      help: 'Entitlements that the cache lacked by outcome: redis (kept there by account), account (asked)',
      outcomes: ['redis', 'account'],
    }),
  };
}
