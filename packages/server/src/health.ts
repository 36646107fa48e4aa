import { Router } from 'express';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { VERSION } from './version.ts';

/** By dependency; a check rejects if the dependency is unavailable. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<unknown>>>;

const CHECK_TIMEOUT_MS = 1_000;

/**
 * Routes for probes and Prometheus, without a credential: `GET /health/live`, which is `{"status","version"}`,
 * `/metrics` and `/health/ready`, which is `{"status","checks"}`: 200 `ready`, or `restoring` while lost data is loaded; 503 `unavailable` or `draining`.
 */
export function operationsRouter(options: {
  checks: ReadinessChecks;
  registry: Registry;
  draining: () => boolean;
  restoring?: () => boolean;
}): Router {
  const { checks, registry, draining, restoring = () => false } = options;
  observeDependencies(registry, checks);
  const router = Router();
  router.get('/health/live', (_req, res) => {
    res.json({ status: 'live', version: VERSION });
  });
  router.get('/health/ready', async (_req, res) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await passes(check)] as const),
    );
    const ok = results.every(([, passed]) => passed);
    const good = restoring() ? 'restoring' : 'ready';
    const status = draining() ? 'draining' : ok ? good : 'unavailable';
    res.status(status === good ? 200 : 503).json({
      status,
      checks: Object.fromEntries(results.map(([name, passed]) => [name, passed ? 'ok' : 'unreachable'])),
    });
  });
  router.get('/metrics', async (_req, res) => {
    res.type(registry.contentType).send(await registry.metrics());
  });
  return router;
}

/** Asks at each scrape, so that an alert doesn't depend on who else probes. */
function observeDependencies(registry: Registry, checks: ReadinessChecks): void {
  new Gauge({
    name: 'tollgate_dependency_up',
    help: '1 if the dependency passes its readiness check, else 0',
    labelNames: ['dependency'],
    registers: [registry],
    async collect() {
      await Promise.all(
        Object.entries(checks).map(async ([dependency, check]) => {
          this.set({ dependency }, (await passes(check)) ? 1 : 0);
        }),
      );
    },
  });
}

async function passes(check: () => Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, CHECK_TIMEOUT_MS, false);
  });
  try {
    return await Promise.race([check().then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
