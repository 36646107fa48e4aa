import type { ErrorRequestHandler } from 'express';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { Logger } from '@tollgate/log';
import { loggedPath } from '@tollgate/log/redact';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { problemOf } from '@tollgate/http/error-handler';
import type { AddressOf } from '@tollgate/http/error-handler';
import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { OAuthError } from './oauth-error.ts';

type Answer = {
  status: number;
  body: { error: string; error_description: string };
  headers: Readonly<Record<string, string>>;
};

/** Tollgate's codes as RFC 6749's; all others are server_error. */
const OAUTH_CODES: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'invalid_request',
  not_found: 'invalid_request',
  unsupported_media_type: 'invalid_request',
  payload_too_large: 'invalid_request',
  method_not_allowed: 'invalid_request',
  service_unavailable: 'temporarily_unavailable',
  // RFC 6749 has no code for a limit, and slow_down (RFC 8628) is for clients that poll for a user.
  too_many_requests: 'temporarily_unavailable',
};

export function oauthErrorCode(thrown: unknown): string {
  return oauthResponse(thrown).body.error;
}

/** RFC 6749, section 5.2. */
export function createOAuthErrorAnswer(
  logger: Logger,
  addressOf: AddressOf,
  onRefused: (error: string) => void,
) {
  return (thrown: unknown, req: HttpRequest, res: HttpResponse): void => {
    const answer = oauthResponse(thrown);
    onRefused(answer.body.error);
    if (answer.status >= 500) {
      const { code, cause } = problemOf(thrown);
      const request_id = res.getHeader(REQUEST_ID_HEADER);
      const path = loggedPath(req.url ?? '');
      const address = addressOf(req);
      logger.error({ err: cause ?? thrown, code, request_id, path, address }, 'request failed');
    }
    if (res.headersSent) {
      cutAnswer(res);
      return;
    }
    const json = JSON.stringify(answer.body);
    res.writeHead(answer.status, {
      ...answer.headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(json),
    });
    res.end(req.method === 'HEAD' ? undefined : json);
  };
}

export function oauthErrorHandler(answer: ReturnType<typeof createOAuthErrorAnswer>): ErrorRequestHandler {
  // Express recognizes an error middleware by its four parameters.
  return (thrown: unknown, req, res, _next) => {
    answer(thrown, req, res);
  };
}

function oauthResponse(thrown: unknown): Answer {
  return thrown instanceof OAuthError ? fromOAuthError(thrown) : fromAnything(thrown);
}

function fromOAuthError({ code, status, message }: OAuthError): Answer {
  // Every 401 has a challenge (RFC 9110, 15.5.2), not only where the client used the header.
  const headers = CHALLENGES[code] ?? {};
  return { status, body: { error: code, error_description: message }, headers };
}

const CHALLENGES: Partial<Record<OAuthError['code'], Readonly<Record<string, string>>>> = {
  invalid_client: { 'www-authenticate': 'Basic realm="tollgate"' },
  invalid_token: { 'www-authenticate': 'Bearer realm="tollgate", error="invalid_token"' },
};

function fromAnything(thrown: unknown): Answer {
  const problem = problemOf(thrown);
  return {
    // RFC 6749 has no other status for a wrong content type.
    status: problem.code === 'unsupported_media_type' ? 400 : problem.status,
    body: {
      error: OAUTH_CODES[problem.code] ?? 'server_error',
      error_description: problem.detail ?? `${problem.title}.`,
    },
    headers: problem.headers,
  };
}
