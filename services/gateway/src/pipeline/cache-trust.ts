import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

/** Reads at each scrape whether the caches of the steps authenticate and entitle may be used. */
export function observeCacheTrust(
  registry: Registry,
  isTrusted: Readonly<Record<'introspection' | 'entitlement', () => boolean>>,
): void {
  new Gauge({
    name: 'tollgate_cache_trusted',
    help: '1 while no change can have been missed, or nothing uses it (design: operations), by cache: introspection, entitlement',
    labelNames: ['cache'],
    registers: [registry],
    collect() {
      for (const [cache, isTrustedNow] of Object.entries(isTrusted))
        this.set({ cache }, isTrustedNow() ? 1 : 0);
    },
  });
}
