import type { ErrorRequestHandler, Response } from 'express';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import type { Logger } from '@tollgate/log';
import { loggedPath } from '@tollgate/log/redact';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { problemOf } from '@tollgate/http/error-handler';
import type { AddressOf } from '@tollgate/http/error-handler';
import { Problem } from '@tollgate/http/problem';

export const SCIM_MEDIA_TYPE = 'application/scim+json';

/** RFC 7644, table 9. */
type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

/** A refusal that a directory may see. A Problem, so that a transaction passes it on; `scimStatus` is what is answered. */
export class ScimError extends Problem {
  readonly scimStatus: number;
  readonly scimType: ScimType | undefined;

  constructor(scimStatus: number, scimType: ScimType | undefined, detail: string) {
    super('invalid_request', { detail });
    this.name = 'ScimError';
    this.scimStatus = scimStatus;
    this.scimType = scimType;
  }
}

export const invalidValue = (detail: string) => new ScimError(400, 'invalidValue', detail);
export const invalidPath = (detail: string) => new ScimError(400, 'invalidPath', detail);
export const invalidSyntax = (detail: string) => new ScimError(400, 'invalidSyntax', detail);
export const invalidFilter = (detail: string) => new ScimError(400, 'invalidFilter', detail);
export const immutable = (detail: string) => new ScimError(400, 'mutability', detail);
export const uniqueness = (detail: string) => new ScimError(409, 'uniqueness', detail);

export const noSuchResource = () => new ScimError(404, undefined, 'There is no such resource.');

/**
 * Answers with the error message of RFC 7644 (section 3.12), also where the rest of the service throws a Problem.
 * `onRefused` is told of each one.
 */
export function scimErrorHandler(
  logger: Logger,
  addressOf: AddressOf,
  onRefused: (res: Response, refused: { status: number; detail: string }) => void,
): ErrorRequestHandler {
  return (error: unknown, req, res: Response, _next) => {
    if (res.headersSent) {
      cutAnswer(res);
      return;
    }
    const { status, scimType, detail, headers } = answerOf(error);
    if (status >= 500) {
      const request_id = res.getHeader(REQUEST_ID_HEADER);
      const [path, address] = [loggedPath(req.originalUrl), addressOf(req)];
      const err = error instanceof Error ? (error.cause ?? error) : error;
      logger.error({ err, request_id, path, address }, 'request failed');
    }
    onRefused(res, { status, detail });
    res.status(status).set({ ...headers, 'cache-control': 'no-store' });
    sendScim(res, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: String(status),
      ...(scimType === undefined ? {} : { scimType }),
      detail,
    });
  };
}

export function sendScim(res: Response, body: object): void {
  res.set('content-type', SCIM_MEDIA_TYPE).send(Buffer.from(JSON.stringify(body)));
}

type Answer = {
  status: number;
  scimType: ScimType | undefined;
  detail: string;
  headers: Readonly<Record<string, string>>;
};

function answerOf(error: unknown): Answer {
  if (error instanceof ScimError) {
    const { scimStatus: status, scimType, message: detail } = error;
    return { status, scimType, detail, headers: {} };
  }
  const { status, code, detail, title, headers } = problemOf(error);
  // What the body parser refused.
  const scimType = code === 'invalid_request' ? 'invalidSyntax' : undefined;
  return { status, scimType, detail: detail ?? `${title}.`, headers };
}
