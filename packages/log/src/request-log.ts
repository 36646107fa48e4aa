import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { recordWriter, traceMember } from './log.ts';
import { loggedPath } from './redact.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';

type LoggedRequest = { method?: string | undefined; url?: string | undefined };

type LoggedResponse = {
  readonly statusCode: number;
  readonly writableFinished: boolean;
  on: (event: 'close', listener: () => void) => unknown;
};

/** Logs a request when it ends. Call it before a router shortens the URL. */
export type LogRequest = (req: LoggedRequest, res: LoggedResponse, requestId: string) => void;

/** One line per request, at error for a 5xx. `levelOf2xx` is debug where the caller logs each request itself. */
export function createRequestLog(logger: Logger, levelOf2xx: 'info' | 'debug' = 'info'): LogRequest {
  const write = recordWriter(logger);
  return (req, res, requestId) => {
    const startedMs = performance.now();
    const { method, url = '' } = req;
    const trace = traceMember();
    res.on('close', () => {
      const status = res.statusCode;
      const [outcome, level] = !res.writableFinished
        ? (['aborted', 'info'] as const)
        : status >= 500
          ? (['errored', 'error'] as const)
          : (['completed', status < 300 ? levelOf2xx : 'info'] as const);
      write(level, {
        request_id: requestId,
        ...trace,
        req: { method, path: loggedPath(url) },
        res: { status },
        duration_ms: Math.round(performance.now() - startedMs),
        msg: `request ${outcome}`,
      });
    });
  };
}

/** As Express middleware, which also sets X-Request-Id. */
export function requestLog(logger: Logger, requestId: (req: IncomingMessage) => string = requestIdOf) {
  const log = createRequestLog(logger);
  return (req: IncomingMessage, res: ServerResponse, next?: () => void): void => {
    const id = requestId(req);
    res.setHeader(REQUEST_ID_HEADER, id);
    log(req, res, id);
    next?.();
  };
}
