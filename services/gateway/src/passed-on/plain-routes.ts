import { noteRoute } from '@tollgate/server/metrics';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { Logger } from '@tollgate/log';
import type { Problem } from '@tollgate/http/problem';
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

/** A refusal of an OAuth endpoint's request, whose caller gets an OAuth error. */
export class OAuthRefusal extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message, { cause: problem.cause });
    this.name = 'OAuthRefusal';
    this.problem = problem;
  }
}

/**
 * Answers an OAuthRefusal with the error document of RFC 6749 (section 5.2; `temporarily_unavailable` is of section
 * 4.1.2.1).
 */
export function oauthRefusalHandler(logger: Logger, addressOf: AddressOf): ErrorRequestHandler {
  return (error: unknown, req, res: Response, next) => {
    if (!(error instanceof OAuthRefusal) || res.headersSent) {
      next(error);
      return;
    }
    const { status, headers, detail, title } = error.problem;
    const isUnavailable = status === 503;
    if (isUnavailable) {
      const request_id = res.getHeader('x-request-id');
      logger.warn({ request_id, address: addressOf(req), err: error.cause }, 'auth is unavailable');
    }
    res.status(status).set({ ...headers, 'cache-control': 'no-store', pragma: 'no-cache' });
    res.json(
      isUnavailable
        ? { error: 'temporarily_unavailable', error_description: UNAVAILABLE }
        : { error: 'invalid_request', error_description: detail ?? `${title}.` },
    );
  };
}

const UNAVAILABLE = 'The authorization server is temporarily unavailable. Try again later.';
