import type { RequestHandler } from 'express';
import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/**
 * Express middleware that observes `tollgate_http_request_duration_seconds` by method, route and status.
 * The route is the matched pattern, so that ids in paths don't make new series.
 */
export function httpMetrics(registry: Registry): RequestHandler {
  const duration = new Histogram({
    name: 'tollgate_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer, on the public listener',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return (req, res, next) => {
    const end = duration.startTimer();
    res.once('close', () => {
      const route = req.route as { path?: unknown } | undefined;
      end({
        method: KNOWN_METHODS.has(req.method) ? req.method : 'other',
        route: typeof route?.path === 'string' ? req.baseUrl + route.path : 'other',
        status: String(res.statusCode),
      });
    });
    next();
  };
}

/** A caller may send any method name; only these become label values. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
