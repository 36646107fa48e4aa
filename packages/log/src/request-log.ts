import type { IncomingMessage, ServerResponse } from 'node:http';
import { pinoHttp } from 'pino-http';
import type { Logger } from 'pino';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';

/**
 * Express middleware that gives each request its id (`req.id`, echoed as X-Request-Id) and logs it once when
 * it is done: method, path, status and duration. The query string stays out: it can hold a token.
 */
export function requestLog(logger: Logger, requestId: (req: IncomingMessage) => string = requestIdOf) {
  return pinoHttp({
    logger,
    genReqId: (req: IncomingMessage, res: ServerResponse) => {
      const id = requestId(req);
      res.setHeader(REQUEST_ID_HEADER, id);
      return id;
    },
    customAttributeKeys: { responseTime: 'duration_ms', reqId: 'request_id' },
    quietReqLogger: true,
    // pino-http makes an error of its own out of every 5xx; the real one is logged where it is handled.
    customErrorObject: (_req, res: ServerResponse, _error, line: { err: Error }) => ({
      ...line,
      err: res.writableFinished ? undefined : line.err,
    }),
    customLogLevel: (_req, res, error) => ((error ?? res.statusCode >= 500) ? 'error' : 'info'),
    serializers: {
      req: (req: { method: string; url: string }) => ({ method: req.method, path: req.url.split('?', 1)[0] }),
      res: (res: { statusCode: number }) => ({ status: res.statusCode }),
    },
  });
}
