import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import { Problem } from '@tollgate/http/problem';
import { bodyOf, jsonBodyUpTo } from './json-body.ts';
import { queryOf } from './query.ts';
import { faultsOfValue } from './value-faults.ts';

/**
 * An operation is declared once: router, 405, guards, body parser, OpenAPI document and the types of clients follow
 * from the value that `operation` makes (serve.ts).
 */

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof METHODS)[number];

/**
 * `session`: cookie, and CSRF token for unsafe methods; `closing-session`: the same, also of an account that is being
 * deleted; `token`: Bearer access token; `client`: Basic or form. The others have credentials of the private listener.
 */
export type CallerName =
  'anyone' | 'session' | 'closing-session' | 'token' | 'client' | 'operator' | 'service' | 'reporter';

/** Who may call. serve.ts runs the guards of `name` first; `of` reads what they have found out. */
export type Caller<By> = { name: CallerName; of: (req: Request, res: Response) => By };

export const anyone: Caller<undefined> = { name: 'anyone', of: () => undefined };

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
  /** An invalid id is `not_found`, so it is never listed as an invalid field. */
  params?: z.ZodObject | undefined;
  query?: z.ZodObject | undefined;
  body?: z.ZodType | undefined;
  form?: z.ZodType;
  example?: unknown;
  answers: Answers;
  /** Beyond those that every request and `caller`, `params`, `query` or `body` imply. */
  problems?: readonly ErrorCode[] | undefined;
  /** Errors aren't problem+json; they are listed in `answers`. */
  ownErrors?: boolean;
};

/** An operation of another service, which is in the document too. Route: `POST /oauth2/token`. */
export type Described = Description & { method: Method; path: string };

/** An operation with its handler. `Needs` is what that needs of the service. */
export type Operation<Needs> = Described & {
  run: (needs: Needs, req: Request, res: Response, options: { checkAnswers: boolean }) => Promise<void>;
  /** Runs after the caller's guards, before the body is read. */
  guard: (needs: Needs, req: Request, res: Response) => Promise<void>;
  readBody: RequestHandler | undefined;
};

/** What `operation` declared the request to have, validated. */
export type Call<By, Params, Query, Body> = {
  by: By;
  params: Params;
  query: Query;
  body: Body;
  req: Request;
  res: Response;
};

/** An answer with a status, for operations that have several, or with headers. */
export class Reply<Status extends number, Body> {
  readonly status: Status;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: Status, body: Body, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a handler may return nothing
type BodyOf<A> = A extends { schema: infer S extends z.ZodType } ? z.output<S> : void;

type Statuses<A> = keyof A & number;

type IsOne<Union, Each = Union> = Each extends unknown ? ([Union] extends [Each] ? true : false) : never;

type ReplyOf<A> = { [Status in Statuses<A>]: Reply<Status, BodyOf<A[Status]>> }[Statuses<A>];

/** Of an operation with one status, its body alone will do. */
type Returned<A> = ReplyOf<A> | (IsOne<Statuses<A>> extends true ? BodyOf<A[Statuses<A>]> : never);

type Empty = z.ZodObject<Record<string, never>>;

type Handler<Needs, C, A> =
  | { handle: (needs: Needs, call: C) => Promise<Returned<A>> | Returned<A> }
  /** Writes the response itself: files, event streams, answers that aren't JSON. */
  | { respond: (needs: Needs, call: C) => Promise<void> | void };

export type Guard<Needs, By> = (needs: Needs, by: By) => Promise<void> | void;

/**
 * Declares an operation.
 * @param route as `POST /api/console/team`, with path parameters in braces
 */
export function operation<
  By,
  A extends Answers,
  Needs,
  GuardNeeds = unknown,
  Params extends z.ZodObject = Empty,
  Query extends z.ZodObject = Empty,
  Body extends z.ZodType = z.ZodUndefined,
  QueryValue = z.output<Query>,
>(
  route: `${Method} /${string}`,
  declared: Omit<Description, 'caller' | 'params' | 'query' | 'body' | 'form' | 'answers'> & {
    caller: Caller<By>;
    params?: Params | undefined;
    query?: Query | undefined;
    /** In place of `query`, which describes it then, where fields depend on each other. */
    readQuery?: (req: Pick<Request, 'query'>) => QueryValue;
    body?: Body | undefined;
    /** Of `body`; 16 KiB by default. */
    maxBodyBytes?: number;
    answers: A;
    /** Refuses by a Problem, which `problems` lists. */
    guard?: Guard<GuardNeeds, By> | undefined;
  } & Handler<Needs, Call<By, z.output<Params>, QueryValue, z.output<Body>>, A>,
): Operation<Needs & GuardNeeds> {
  const [method, path] = route.split(' ') as [Method, string];
  const { caller, params, query, body, maxBodyBytes = MAX_BODY_BYTES, answers, guard } = declared;
  const { readQuery = (req: Request) => (query === undefined ? {} : queryOf(req, query)) as QueryValue } =
    declared;
  const statuses = Object.keys(answers).filter((status) => status !== 'default');
  return {
    ...declared,
    caller: caller.name,
    method,
    path,
    readBody: body === undefined ? undefined : jsonBodyUpTo(maxBodyBytes),
    guard: async (needs, req, res) => {
      await guard?.(needs, caller.of(req, res));
    },
    run: async (needs, req, res, { checkAnswers }) => {
      const call = {
        by: caller.of(req, res),
        params: paramsOf(req, params) as z.output<Params>,
        query: readQuery(req),
        body: (body === undefined ? undefined : bodyOf(req, body)) as z.output<Body>,
        req,
        res,
      };
      if ('respond' in declared) {
        await declared.respond(needs, call);
        return;
      }
      const returned: unknown = await declared.handle(needs, call);
      const reply =
        returned instanceof Reply
          ? (returned as Reply<number, unknown>)
          : new Reply<number, unknown>(Number(statuses[0]), returned);
      if (checkAnswers) checkReply(route, answers, reply);
      send(res, reply);
    },
  };
}

const MAX_BODY_BYTES = 16_384;

function paramsOf(req: Request, schema: z.ZodObject | undefined): unknown {
  if (schema === undefined) return {};
  const parsed = schema.safeParse(req.params);
  if (!parsed.success) throw new Problem('not_found');
  return parsed.data;
}

/** @throws {Error} if the body isn't what the document promises, which is a 500 */
function checkReply(route: string, answers: Answers, { status, body }: Reply<number, unknown>): void {
  const answer = answers[status];
  if (answer === undefined) throw new Error(`${route} doesn't declare the answer ${String(status)}`);
  const faults = faultsOfValue(answer.schema ?? z.undefined(), body);
  if (faults !== '')
    throw new Error(`${route} answers ${String(status)} with what it doesn't declare: ${faults}`);
}

function send(res: Response, { status, body, headers }: Reply<number, unknown>): void {
  res.status(status).set(headers);
  if (body === undefined) res.end();
  else res.json(body);
}

/** Part of the API document (docs/design/console.md). */
export type Chapter<O extends Described = Described> = {
  title: string;
  description: string;
  operations: readonly O[];
};

/** Everything that the handlers of a list of chapters need together. */
export type NeedsOf<Chapters extends readonly Chapter[]> = Intersection<
  Chapters[number]['operations'][number] extends infer O
    ? O extends Operation<infer Needs>
      ? Needs
      : never
    : never
>;

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** A chapter whose operations are in other files. Keys are as `POST /api/console/team`. */
export type ApiChapter = {
  title: string;
  description: string;
  operations: Readonly<Record<`${Method} /${string}`, Description>>;
};

/** The chapter of operations that are served elsewhere. */
export function describedChapter({ operations, ...chapter }: ApiChapter): Chapter {
  return {
    ...chapter,
    operations: Object.entries(operations).map(([route, description]) => {
      const [method, path] = route.split(' ') as [Method, string];
      return { method, path, ...description };
    }),
  };
}
