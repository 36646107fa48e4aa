import type { z } from 'zod';
import type { ErrorCode } from '@tollgate/contracts/error-codes';

/** What an endpoint of the public listener says of itself in the API's document (ADR 0032). */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call it, and by what:
 * - `anyone`: no credentials;
 * - `session`: who is signed in, by the cookie, and by the CSRF token where the method is unsafe;
 * - `token`: an access token as Bearer;
 * - `client`: an OAuth client's credentials, as Basic or in the form.
 */
type Caller = 'anyone' | 'session' | 'token' | 'client';

export type Answer = {
  /** The document holds an answer with a name once, under its `components`. */
  name?: string;
  description: string;
  /** Left out where there is no body. */
  schema?: z.ZodType;
  /** Of that body; `application/json` where left out. */
  contentTypes?: readonly string[];
  /** Bodies of further content types, where the caller can choose one. */
  furtherSchemas?: Readonly<Record<string, z.ZodType>>;
  /** A body that it can have. */
  example?: unknown;
  /** Headers that every such answer has, with what they hold. */
  headers?: Readonly<Record<string, string>>;
};

export type Operation = {
  operationId: string;
  summary: string;
  /** CommonMark. */
  description?: string;
  caller: Caller;
  /** Path parameters; an id that nothing can have is `not_found`, and so never named as faulty. */
  params?: z.ZodObject;
  /** Query parameters, the schema that the endpoint holds them to. */
  query?: z.ZodObject;
  /** The JSON body, the schema that the endpoint holds it to. */
  body?: z.ZodType;
  /** Of that body, where it isn't JSON. */
  form?: z.ZodType;
  /** A request body that is good. */
  example?: unknown;
  /** By status; `default`: of any other. */
  answers: Readonly<Record<number, Answer>> & { default?: Answer };
  /**
   * What it can be refused with beside what comes of the above: `unauthorized`, `csrf_token_required` and
   * `forbidden` of a session, `invalid_request` of a body or query, `not_found` of path parameters, and what every
   * request can meet.
   */
  problems?: readonly ErrorCode[];
  /** Its errors aren't problem+json: they are among its answers. */
  ownErrors?: boolean;
};

/** One chapter of the document. The operations are named as `POST /api/console/team`, path parameters in braces. */
export type ApiChapter = {
  title: string;
  description: string;
  operations: Readonly<Record<`${Method} /${string}`, Operation>>;
};
