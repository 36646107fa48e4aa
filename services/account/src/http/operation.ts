import type { z } from 'zod';
import type { ErrorCode } from '@tollgate/contracts/error-codes';

/** An endpoint of the public listener in the API document (ADR 0032). */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Required credentials: `session` is the cookie, and the CSRF token for unsafe methods; `token` an access token as
 * Bearer; `client` an OAuth client's credentials, as Basic or in the form.
 */
type Caller = 'anyone' | 'session' | 'token' | 'client';

export type Answer = {
  /** A named answer is written once, under `components`. */
  name?: string;
  description: string;
  /** Left out without a body. */
  schema?: z.ZodType;
  /** Defaults to `application/json`. */
  contentTypes?: readonly string[];
  /** Other content types that the caller can request. */
  furtherSchemas?: Readonly<Record<string, z.ZodType>>;
  example?: unknown;
  /** Descriptions by header name. */
  headers?: Readonly<Record<string, string>>;
};

export type Operation = {
  operationId: string;
  summary: string;
  /** CommonMark. */
  description?: string;
  caller: Caller;
  /** An invalid id is `not_found`, so it is never listed as an invalid field. */
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** A form body instead of JSON. */
  form?: z.ZodType;
  example?: unknown;
  /** By status; `default` for all others. */
  answers: Readonly<Record<number, Answer>> & { default?: Answer };
  /**
   * Error codes beyond those implied by a session (`unauthorized`, `csrf_token_required`, `forbidden`), a body or query
   * (`invalid_request`), path parameters (`not_found`) and every request.
   */
  problems?: readonly ErrorCode[];
  /** Errors aren't problem+json; they are listed in `answers`. */
  ownErrors?: boolean;
};

/** Operations are named as `POST /api/console/team`, with path parameters in braces. */
export type ApiChapter = {
  title: string;
  description: string;
  operations: Readonly<Record<`${Method} /${string}`, Operation>>;
};
