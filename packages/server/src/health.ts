import { Router } from 'express';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { Refusal } from './refusal.ts';
import { VERSION } from './version.ts';

/** By dependency; a check rejects if the dependency is unavailable, with a Refusal to say why. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<unknown>>>;

const CHECK_TIMEOUT_MS = 1_000;

/**
 * Routes for probes and Prometheus, without a credential: `GET /health/live`, which is `{"status","version"}`,
 * `/metrics` and `/health/ready`, which is `{"status","checks"}`: 200 `ready`, or `restoring` while lost data is loaded; 503 `unavailable` or `draining`.
 * A check is `ok`, `unreachable` or a sentence.
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
      Object.entries(checks).map(async ([name, check]) => [name, await outcomeOf(check)] as const),
    );
    const ok = results.every(([, outcome]) => outcome === 'ok');
    const good = restoring() ? 'restoring' : 'ready';
    const status = draining() ? 'draining' : ok ? good : 'unavailable';
    res.status(status === good ? 200 : 503).json({
      status,
      checks: Object.fromEntries(results),
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
          this.set({ dependency }, (await outcomeOf(check)) === 'ok' ? 1 : 0);
        }),
      );
    },
  });
}

async function outcomeOf(check: () => Promise<unknown>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'unreachable'>((resolve) => {
    timer = setTimeout(resolve, CHECK_TIMEOUT_MS, 'unreachable');
  });
  try {
    return await Promise.race([check().then(() => 'ok'), late]);
  } catch (error) {
    return error instanceof Refusal ? error.message : 'unreachable';
  } finally {
    clearTimeout(timer);
  }
}
