import type { z } from 'zod';
import type { ErrorCode } from './error-codes.ts';
import type { OperatorRole } from './operator-roles.ts';

/** What an API's document says about an operation, apart from how it is served (@tollgate/operation). */

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof METHODS)[number];

/**
 * `session`: cookie, and CSRF token for unsafe methods; `closing-session`: the same, also of an account that is being
 * deleted, or lacks the single sign-on that its team requires; `token`: Bearer access token; `client`: Basic or form; `operator-session`: cookie and CSRF token of an
 * operator. The others have credentials of the private listener; an `operator` can have a session instead.
 */
export type CallerName =
  | 'anyone'
  | 'session'
  | 'closing-session'
  | 'token'
  | 'client'
  | 'operator'
  | 'operator-session'
  | 'service'
  | 'reporter';

/** A response, by its status. */
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

export type Answers = Readonly<Record<number, Answer>> & { default?: Answer };

/** What the API's document says about an operation, besides method and path. */
export type Description = {
  operationId: string;
  summary: string;
  description?: string | undefined;
  caller: CallerName;
  /** An operator with one of them may call it, and any admin (roleSuffices). Every operators' operation has some. */
  roles?: readonly OperatorRole[] | undefined;
  /** Whether an operator has to say why (`X-Reason`). May be said with every other operators' change too. */
  needsReason?: boolean | undefined;
  /** An invalid id is `not_found`, so it is never listed as an invalid field. */
  params?: z.ZodObject | undefined;
  query?: z.ZodObject | undefined;
  /** By the names that the document shows, such as `Idempotency-Key`. */
  headers?: z.ZodObject | undefined;
  body?: z.ZodType | undefined;
  form?: z.ZodType | undefined;
  example?: unknown;
  answers: Answers;
  /** Beyond those that every request and `caller`, `params`, `query` or `body` imply. */
  problems?: readonly ErrorCode[] | undefined;
  /** What the operation answers in place of problem+json. */
  errors?: Answers;
};

/** A part of a document, by routes. As `POST /api/console/team`. */
export type ApiChapter = {
  title: string;
  description: string;
  operations: Readonly<Record<`${Method} /${string}`, Description>>;
};
