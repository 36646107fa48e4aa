import type { z } from 'zod';
import type { ErrorCode } from '@tollgate/contracts/error-codes';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `session`: cookie, and CSRF token for unsafe methods; `token`: Bearer access token; `client`: Basic or form. */
type Caller = 'anyone' | 'session' | 'token' | 'client';

export type Answer = {
  /** A named answer is written once, under `components`. */
  name?: string;
  description: string;
  schema?: z.ZodType;
  contentTypes?: readonly string[];
  /** Other content types that the caller can request. */
  furtherSchemas?: Readonly<Record<string, z.ZodType>>;
  example?: unknown;
  headers?: Readonly<Record<string, string>>;
};

export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  caller: Caller;
  /** An invalid id is `not_found`, so it is never listed as an invalid field. */
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  form?: z.ZodType;
  example?: unknown;
  answers: Readonly<Record<number, Answer>> & { default?: Answer };
  /** Beyond those that every request and `caller`, `params`, `query` or `body` imply. */
  problems?: readonly ErrorCode[];
  /** Errors aren't problem+json; they are listed in `answers`. */
  ownErrors?: boolean;
};

/** Part of the API document (ADR 0032). Keys are as `POST /api/console/team`, with path parameters in braces. */
export type ApiChapter = {
  title: string;
  description: string;
  operations: Readonly<Record<`${Method} /${string}`, Operation>>;
};
