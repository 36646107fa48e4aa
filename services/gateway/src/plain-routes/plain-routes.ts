import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import type { AddressOf } from '@tollgate/http/error-handler';
import { pathOf } from '@tollgate/http/request-head';
import { assertSoundHead } from '../http/sound-head.ts';
import { isAtOrBelow } from './canonical-path.ts';

/** Lets a handler have the requests at or below a path; all others go past it. */
export function below(prefix: string, handler: RequestHandler): RequestHandler {
  return (req, res, next) => {
    if (isAtOrBelow(pathOf(req), prefix)) handler(req, res, next);
    else next();
  };
}

/** Refuses ambiguous requests (sound-head.ts) before any route sees them. */
export const soundHead: RequestHandler = (req, _res, next) => {
  assertSoundHead(req);
  next();
};

/** A peer that isn't there: 503 with Retry-After. */
export function peerUnavailable(cause: unknown): Problem {
  return new Problem('service_unavailable', { cause });
}

/** auth isn't there; OAuth clients are told in their own terms. */
export class AuthUnavailable extends Error {
  constructor(cause: unknown) {
    super('auth can not be reached', { cause });
    this.name = 'AuthUnavailable';
  }
}

/**
 * Answers AuthUnavailable as 503 with the error document of RFC 6749 (section 5.2; the code is that of section
 * 4.1.2.1), never to be stored (section 5.1).
 */
export function oauthUnavailableHandler(logger: Logger, addressOf: AddressOf): ErrorRequestHandler {
  return (error: unknown, req, res: Response, next) => {
    if (!(error instanceof AuthUnavailable) || res.headersSent) {
      next(error);
      return;
    }
    const request_id = res.getHeader('x-request-id');
    logger.warn({ request_id, address: addressOf(req), err: error.cause }, 'auth is away');
    res.status(503).set({ 'retry-after': '1', 'cache-control': 'no-store', pragma: 'no-cache' }).json({
      error: 'temporarily_unavailable',
      error_description: 'The authorization server is temporarily unavailable. Try again later.',
    });
  };
}
