import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import type { HttpHandler, HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { createHistogram } from './tallies.ts';
import type { Observe } from './tallies.ts';

type ListenerName = 'public' | 'private';

/** Observes `tollgate_http_request_duration_seconds`, by listener, method, route and class of the status. */
export type HttpMetrics = {
  /**
   * For Express apps: the route is the pattern that matched, so that ids in paths make no series. Event streams aren't
   * observed.
   */
  middleware: RequestHandler;
  observer: (route: string) => HttpHandler;
};

type NewSeries = ReturnType<typeof createHistogram>;

const notedRoutes = new WeakMap<ServerResponse, string>();

/** Names the route of a request that Express doesn't route by a pattern. */
export function noteRoute(res: ServerResponse, route: string): void {
  notedRoutes.set(res, route);
}

const histograms = new WeakMap<Registry, NewSeries>();

/** Both listeners of a process share the histogram. */
function durationOf(registry: Registry): NewSeries {
  const known = histograms.get(registry);
  if (known !== undefined) return known;
  const duration = createHistogram(registry, {
    name: 'tollgate_http_request_duration_seconds',
    help: 'Time from a request to the end of its response; without data calls, probes and scrapes',
    labelNames: ['listener', 'method', 'route', 'status_class'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  histograms.set(registry, duration);
  return duration;
}

export function createHttpMetrics(registry: Registry, listener: ListenerName): HttpMetrics {
  const duration = durationOf(registry);
  const known = new Map<string, Observe>();
  function seriesOf(method: string, route: string, status: number): Observe {
    const statusClass = `${String(Math.floor(status / 100))}xx`;
    const key = `${method} ${statusClass} ${route}`;
    const series = known.get(key) ?? duration({ listener, method, route, status_class: statusClass });
    known.set(key, series);
    return series;
  }

  function observeEnd(req: HttpRequest, res: HttpResponse, routeOf: () => string | null): void {
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
        const noted = notedRoutes.get(res);
        if (noted !== undefined) return noted;
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

export function httpMetrics(registry: Registry, listener: ListenerName): RequestHandler {
  return createHttpMetrics(registry, listener).middleware;
}

/** Callers may send any method name. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
