import { noteRoute } from '@tollgate/server/metrics';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import type { AddressOf } from '@tollgate/http/error-handler';
import { pathOf } from '@tollgate/http/request-head';
import { assertSoundHead } from '../http/sound-head.ts';
import { isAtOrBelow } from './canonical-path.ts';

/** Routes the requests at or below a path to a handler. */
export function below(prefix: string, handler: RequestHandler): RequestHandler {
  return (req, res, next) => {
    if (!isAtOrBelow(pathOf(req), prefix)) {
      next();
      return;
    }
    noteRoute(res, `${prefix}/*`);
    handler(req, res, next);
  };
}

export const soundHead: RequestHandler = (req, _res, next) => {
  assertSoundHead(req);
  next();
};

export function peerUnavailable(cause: unknown): Problem {
  return new Problem('service_unavailable', { cause });
}

/** auth is unavailable; OAuth clients get an OAuth error. */
export class AuthUnavailable extends Error {
  constructor(cause: unknown) {
    super('auth is unreachable', { cause });
    this.name = 'AuthUnavailable';
  }
}

/** Responds to AuthUnavailable with 503 and the error document of RFC 6749 (section 5.2; code of section 4.1.2.1). */
export function oauthUnavailableHandler(logger: Logger, addressOf: AddressOf): ErrorRequestHandler {
  return (error: unknown, req, res: Response, next) => {
    if (!(error instanceof AuthUnavailable) || res.headersSent) {
      next(error);
      return;
    }
    const request_id = res.getHeader('x-request-id');
    logger.warn({ request_id, address: addressOf(req), err: error.cause }, 'auth is unavailable');
    res.status(503).set({ 'retry-after': '1', 'cache-control': 'no-store', pragma: 'no-cache' }).json({
      error: 'temporarily_unavailable',
      error_description: 'The authorization server is temporarily unavailable. Try again later.',
    });
  };
}
