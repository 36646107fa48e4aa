import { Router } from 'express';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { Reply, anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { serve } from '@tollgate/operation/serve';
import { Refusal } from './refusal.ts';
import { VERSION } from './version.ts';

/** By dependency; a check rejects if the dependency is unavailable, with a Refusal to say why. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<unknown>>>;

const CHECK_TIMEOUT_MS = 1_000;

type ProbeNeeds = {
  checks: ReadinessChecks;
  registry: Registry;
  draining: () => boolean;
  restoring: () => boolean;
};

const readiness = z.object({
  status: z.enum(['ready', 'restoring', 'unavailable', 'draining']),
  checks: z
    .record(z.string(), z.string())
    .meta({ description: 'By dependency: `ok`, `unreachable` or a sentence.' }),
});

/** For probes and Prometheus, on each service's private listener. */
export const PROBES = {
  title: 'Probes',
  description: 'Whether the process is alive and can serve, and its metrics.',
  operations: [
    operation('GET /health/live', {
      operationId: 'getLiveness',
      summary: 'Check that the process responds',
      caller: anyone,
      answers: {
        200: {
          description: 'It does.',
          schema: z.object({ status: z.literal('live'), version: z.string() }),
        },
      },
      handle: () => ({ status: 'live' as const, version: VERSION }),
    }),
    operation('GET /health/ready', {
      operationId: 'getReadiness',
      summary: 'Check that the process can serve',
      caller: anyone,
      answers: {
        200: { description: '`ready`, or `restoring` while lost data is loaded.', schema: readiness },
        503: { description: '`unavailable` or `draining`.', schema: readiness },
      },
      handle: async ({ checks, draining, restoring }: ProbeNeeds) => {
        const results = await Promise.all(
          Object.entries(checks).map(async ([name, check]) => [name, await outcomeOf(check)] as const),
        );
        const answer = { checks: Object.fromEntries(results) };
        if (draining()) return new Reply(503, { status: 'draining' as const, ...answer });
        if (results.some(([, outcome]) => outcome !== 'ok')) {
          return new Reply(503, { status: 'unavailable' as const, ...answer });
        }
        return new Reply(200, {
          status: restoring() ? ('restoring' as const) : ('ready' as const),
          ...answer,
        });
      },
    }),
    operation('GET /metrics', {
      operationId: 'getMetrics',
      summary: 'Get the metrics of the process',
      caller: anyone,
      answers: {
        200: {
          description: "In Prometheus' text format.",
          schema: z.string(),
          contentTypes: ['text/plain'],
        },
      },
      respond: async ({ registry }: ProbeNeeds, { res }) => {
        res.type(registry.contentType).send(await registry.metrics());
      },
    }),
  ],
} as const satisfies Chapter;

/** Serves PROBES, which need no credential. */
export function probes(options: Omit<ProbeNeeds, 'restoring'> & { restoring?: () => boolean }): Router {
  const { checks, registry, draining, restoring = () => false } = options;
  observeDependencies(registry, checks);
  const router = Router();
  serve(router, [PROBES], {
    needs: { checks, registry, draining, restoring },
    guards: {},
    checkAnswers: false,
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
