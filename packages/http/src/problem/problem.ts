import { ERROR_CODES } from '@tollgate/contracts/error-codes';
import type { ErrorCode } from '@tollgate/contracts/error-codes';

/** A faulty field, never its value. */
export type FieldError = {
  /** A member's path with dots; empty for the whole body. */
  field: string;
  message: string;
};

type Extensions = Readonly<Record<string, string | number | readonly string[] | readonly object[]>>;

export type ProblemOptions = {
  /** A public sentence. Never a secret, an address or the name of an internal part. */
  detail?: string;
  errors?: readonly FieldError[];
  headers?: Readonly<Record<string, string>>;
  /** Further public members (RFC 9457, section 3.2). */
  extensions?: Extensions;
  /** For the log only. */
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
  readonly extensions: Extensions;

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
    this.extensions = { ...DEFAULT_EXTENSIONS[code], ...options.extensions };
  }
}

const DEFAULT_HEADERS: Partial<Record<ErrorCode, Record<string, string>>> = {
  unauthorized: { 'www-authenticate': 'Bearer realm="tollgate"' },
  invalid_credentials: { 'www-authenticate': 'Bearer realm="tollgate"' },
  service_unavailable: { 'retry-after': '1' },
  payments_unavailable: { 'retry-after': '30' },
};

/** Where to fix it: a page of the web interface, which the gateway serves. */
const PLAN_PAGE = { help_url: '/user/plan' };

const DEFAULT_EXTENSIONS: Partial<Record<ErrorCode, Record<string, string>>> = {
  no_active_billing_period: PLAN_PAGE,
  points_limit_exceeded: PLAN_PAGE,
  time_limit_exceeded: PLAN_PAGE,
  traffic_limit_exceeded: PLAN_PAGE,
};

/** The 401 for an invalid bearer token (RFC 6750, section 3.1). Without a token, use `new Problem('unauthorized')`. */
export function invalidToken(): Problem {
  return new Problem('unauthorized', {
    headers: { 'www-authenticate': 'Bearer realm="tollgate", error="invalid_token"' },
  });
}

/** An unknown error becomes an internal_error that tells the caller nothing. */
export function toProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('internal_error', { cause: error });
}

/** Whether a store is away, which retries end and no work on one thing can cause. */
export function isServiceUnavailable(error: unknown): boolean {
  return error instanceof Problem && error.code === 'service_unavailable';
}

/** The problem+json document (RFC 9457), with `code`, `request_id` and `errors`. */
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
