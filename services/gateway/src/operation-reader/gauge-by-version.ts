import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

/** What is configured for each version of the data API; null where it isn't. */
export type ByVersion<Source> = Readonly<Record<'v1' | 'v2', Source | null>>;

/** A gauge with the label `api_version`; a version for which nothing is configured has no sample. */
export function gaugeByVersion<Source>(
  registry: Registry,
  sources: ByVersion<Source>,
  { read, ...description }: { name: string; help: string; read: (source: Source) => number },
): void {
  new Gauge({
    ...description,
    labelNames: ['api_version'],
    registers: [registry],
    collect() {
      for (const [api_version, source] of Object.entries(sources)) {
        if (source !== null) this.set({ api_version }, read(source));
      }
    },
  });
}
