import type { ErrorRequestHandler, RequestHandler } from 'express';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import type { Logger } from '@tollgate/log';
import { loggedPath } from '@tollgate/log/redact';
import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { cutAnswer } from './cut-answer.ts';
import { Problem, problemDocument, toProblem } from './problem.ts';

/** Responds with problem+json; cuts off a response that is already under way. */
export function sendProblem(res: HttpResponse, problem: Problem): void {
  if (res.headersSent) {
    cutAnswer(res);
    return;
  }
  const requestId = String(res.getHeader(REQUEST_ID_HEADER) ?? '');
  const body = JSON.stringify(problemDocument(problem, requestId));
  res.writeHead(problem.status, {
    ...problem.headers,
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  res.end(res.req.method === 'HEAD' ? undefined : body);
}

export const notFound: RequestHandler = () => {
  throw new Problem('not_found');
};

export function methodNotAllowed(...allowed: string[]): RequestHandler {
  return () => {
    throw new Problem('method_not_allowed', { headers: { allow: allowed.join(', ') } });
  };
}

/** Where a request came from; empty if the caller has gone. */
export type AddressOf = (req: Pick<HttpRequest, 'rawHeaders' | 'socket'>) => string;

const connectionAddress: AddressOf = ({ socket }) => socket.remoteAddress ?? '';

/** Responds to any error with problem+json; logs 5xx ones with cause and address. */
export function createProblemAnswer(logger: Logger, addressOf: AddressOf = connectionAddress) {
  return (error: unknown, req: HttpRequest, res: HttpResponse): void => {
    const problem = problemOf(error);
    if (problem.status >= 500) {
      const { code, cause } = problem;
      const request_id = res.getHeader(REQUEST_ID_HEADER);
      const path = loggedPath(req.url ?? '');
      const address = addressOf(req);
      logger.error({ err: cause ?? problem, code, request_id, path, address }, 'request failed');
    }
    sendProblem(res, problem);
  };
}

export function problemHandler(logger: Logger, addressOf?: AddressOf): ErrorRequestHandler {
  const answer = createProblemAnswer(logger, addressOf);
  // Express knows an error middleware by its four parameters.
  return (error: unknown, req, res, _next) => {
    answer(error, req, res);
  };
}

export function problemOf(error: unknown): Problem {
  // From Express, for a path parameter like `%zz`.
  if (error instanceof URIError) return new Problem('invalid_request');
  return fromBodyParser(error) ?? toProblem(error);
}

function fromBodyParser(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !('type' in error)) return undefined;
  switch (error.type) {
    case 'entity.too.large':
      return new Problem('payload_too_large');
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return new Problem('unsupported_media_type');
    case 'entity.parse.failed':
    case 'entity.verify.failed':
    case 'request.aborted':
    case 'request.size.invalid':
    case 'parameters.too.many':
      return new Problem('invalid_request');
    default:
      return undefined;
  }
}
