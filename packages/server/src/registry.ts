import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import manifest from '../package.json' with { type: 'json' };

/** Gauges that prom-client names like counters, and that it has under better names as well. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * Each sample wakes an idle process. Node.js' figures of the event loop include it, so alerts subtract it
 * (docs/design/operations.md).
 */
const EVENT_LOOP_SAMPLE_MS = 500;

/** With Node's metrics and `tollgate_build_info`; every sample has the label `service`. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  new Gauge({
    name: 'tollgate_build_info',
    help: '1, labelled with the running version',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: manifest.version }, 1);
  return registry;
}
