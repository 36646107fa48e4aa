import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import { createHistogram } from './tallies.ts';
import type { Observe } from './tallies.ts';

/** Observes `tollgate_http_request_duration_seconds`, by method, route and status. */
export type HttpMetrics = {
  /**
   * For Express apps: the route is the pattern that matched, so that ids in paths make no series. Event streams aren't
   * observed.
   */
  middleware: RequestHandler;
  observer: (route: string) => (req: IncomingMessage, res: ServerResponse) => void;
};

export function createHttpMetrics(registry: Registry): HttpMetrics {
  const duration = createHistogram(registry, {
    name: 'tollgate_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer, on the public listener',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });

  const known = new Map<string, Observe>();
  function seriesOf(method: string, route: string, status: number): Observe {
    const key = `${method} ${String(status)} ${route}`;
    const series = known.get(key) ?? duration({ method, route, status: String(status) });
    known.set(key, series);
    return series;
  }

  function observeEnd(req: IncomingMessage, res: ServerResponse, routeOf: () => string | null): void {
    const startedMs = performance.now();
    res.on('close', () => {
      const route = routeOf();
      if (route === null) return;
      const { method = 'other' } = req;
      const observe = seriesOf(KNOWN_METHODS.has(method) ? method : 'other', route, res.statusCode);
      observe((performance.now() - startedMs) / 1_000);
    });
  }

  return {
    middleware: (req, res, next) => {
      observeEnd(req, res, () => {
        // Lasts as long as a page is open.
        if (String(res.getHeader('content-type')).startsWith('text/event-stream')) return null;
        const route = req.route as { path?: unknown } | undefined;
        return typeof route?.path === 'string' ? req.baseUrl + route.path : 'other';
      });
      next();
    },
    observer: (route) => (req, res) => {
      observeEnd(req, res, () => route);
    },
  };
}

export function httpMetrics(registry: Registry): RequestHandler {
  return createHttpMetrics(registry).middleware;
}

/** Callers may send any method name. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
