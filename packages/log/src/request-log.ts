import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';

/**
 * Express middleware that gives each request its id (echoed as X-Request-Id) and logs it once when it is done:
 * method, path, status and duration; at error for a 5xx. The query string stays out: it can hold a token.
 *
 * Not pino-http: its logger of its own for each request was an eighth of an introspection's time (bench).
 */
export function requestLog(logger: Logger, requestId: (req: IncomingMessage) => string = requestIdOf) {
  return (req: IncomingMessage, res: ServerResponse, next?: () => void): void => {
    const startedMs = performance.now();
    const id = requestId(req);
    res.setHeader(REQUEST_ID_HEADER, id);
    // Taken now: a router that is mounted shortens the URL while it works.
    const [path] = (req.url ?? '').split('?', 1);
    res.once('close', () => {
      const line = {
        request_id: id,
        req: { method: req.method, path },
        res: { status: res.statusCode },
        duration_ms: Math.round(performance.now() - startedMs),
      };
      if (!res.writableFinished) logger.info(line, 'request aborted');
      else if (res.statusCode >= 500) logger.error(line, 'request errored');
      else logger.info(line, 'request completed');
    });
    next?.();
  };
}
