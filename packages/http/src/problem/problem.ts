import { ERROR_CODES } from '@tollgate/contracts/error-codes';
import type { ErrorCode } from '@tollgate/contracts/error-codes';

/** What is wrong with one field; never the field's value. */
export type FieldError = {
  /** A member's path, with dots; empty for the body as a whole. */
  field: string;
  /** Says what is wanted, for instance "must be a whole number". */
  message: string;
};

export type ProblemOptions = {
  /** One public sentence on this occurrence. Never a secret, an address or the name of an internal part. */
  detail?: string;
  /** Every faulty field of the request. */
  errors?: readonly FieldError[];
  /** Response headers that belong to the error, for instance Retry-After. */
  headers?: Readonly<Record<string, string>>;
  /** Public members beside `code` and `request_id` (RFC 9457, section 3.2). */
  extensions?: Readonly<Record<string, string | number>>;
  /** The internal reason; it goes to the log only. */
  cause?: unknown;
};

/** An error that a caller may see. Anything else that is thrown becomes a bare 500. */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string | undefined;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, string | number>>;

  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    const { status, title } = ERROR_CODES[code];
    super(options.detail ?? title, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = status;
    this.title = title;
    this.detail = options.detail;
    this.errors = options.errors;
    this.headers = { ...DEFAULT_HEADERS[code], ...options.headers };
    this.extensions = options.extensions ?? {};
  }
}

/** Headers that an error code always has: the challenge of RFC 6750, section 3, and a time to come back. */
const DEFAULT_HEADERS: Partial<Record<ErrorCode, Record<string, string>>> = {
  unauthorized: { 'www-authenticate': 'Bearer realm="tollgate"' },
  invalid_credentials: { 'www-authenticate': 'Bearer realm="tollgate"' },
  service_unavailable: { 'retry-after': '1' },
};

/**
 * The 401 for a bearer token that was sent and is not good, as RFC 6750 section 3.1 wants it: with an error
 * code in the challenge. A request without a token gets the bare challenge (`new Problem('unauthorized')`).
 */
export function invalidToken(): Problem {
  return new Problem('unauthorized', {
    headers: { 'www-authenticate': 'Bearer realm="tollgate", error="invalid_token"' },
  });
}

/** Turns whatever was thrown into a problem; an unknown error tells the caller nothing. */
export function toProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('internal_error', { cause: error });
}

/** The problem+json document (RFC 9457) of a problem, with Tollgate's `code`, `request_id` and `errors`. */
export function problemDocument(problem: Problem, requestId: string) {
  return {
    type: `urn:tollgate:problem:${problem.code}`,
    title: problem.title,
    status: problem.status,
    ...(problem.detail === undefined ? {} : { detail: problem.detail }),
    ...problem.extensions,
    code: problem.code,
    request_id: requestId,
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
  };
}
