import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type {
  Answer,
  Answers,
  ApiChapter,
  CallerName,
  Description,
  Method,
} from '@tollgate/contracts/api-description';
import type { Form } from '@tollgate/http/form';
import { Problem } from '@tollgate/http/problem';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { headersOf } from './header-fields.ts';
import { bodyOf, jsonBodyUpTo } from './json-body.ts';
import { queryOf } from './query.ts';
import { faultsOfValue } from './value-faults.ts';

/**
 * An operation is declared once: router, 405, guards, body parser, OpenAPI document and the types of clients follow
 * from the value that `operation` makes (serve.ts).
 */

/** Who may call. serve.ts runs the guards of `name` first; `of` reads what they have found out. */
export type Caller<By> = { name: CallerName; of: (req: Request, res: Response) => By };

export const anyone: Caller<undefined> = { name: 'anyone', of: () => undefined };

/** An operation of another service, which is in the document too. Route: `POST /oauth2/token`. */
export type Described = Description & { method: Method; path: string };

/** An operation with its handler. `Needs` is what that needs of the service. */
export type Operation<Needs> = Described & {
  run: (needs: Needs, req: Request, res: Response, options: RunOptions) => Promise<void>;
  /** Runs after the caller's guards, before the body is read. */
  guard: (needs: Needs, req: Request, res: Response) => Promise<void>;
  readBody: RequestHandler | undefined;
};

/** Reads a form. @throws {Problem} invalid_request; payload_too_large; unsupported_media_type */
export type ReadForm = (req: HttpRequest, res: HttpResponse) => Form | Promise<Form>;

export type RunOptions = { checkAnswers: boolean; readForm: ReadForm };

/** What `operation` declared the request to have, validated. */
export type Call<By, Params, Query, Body, Headers> = {
  by: By;
  params: Params;
  query: Query;
  headers: Headers;
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
  Headers extends z.ZodObject = Empty,
>(
  route: `${Method} /${string}`,
  declared: Omit<Description, 'caller' | 'params' | 'query' | 'headers' | 'body' | 'form' | 'answers'> & {
    caller: Caller<By>;
    params?: Params | undefined;
    query?: Query | undefined;
    /** In place of `query`, which describes it then, where fields depend on each other. */
    readQuery?: (req: Pick<Request, 'query'>) => QueryValue;
    headers?: Headers | undefined;
    body?: Body | undefined;
    /** Of `body`; 16 KiB by default. */
    maxBodyBytes?: number;
    answers: A;
    /** Refuses by a Problem, which `problems` lists. */
    guard?: Guard<GuardNeeds, By> | undefined;
  } & Handler<Needs, Call<By, z.output<Params>, QueryValue, z.output<Body>, z.output<Headers>>, A>,
): Operation<Needs & GuardNeeds> {
  const { caller, params, query, headers, body, answers, guard } = declared;
  const { maxBodyBytes = MAX_BODY_BYTES } = declared;
  const { readQuery = (req: Request) => (query === undefined ? {} : queryOf(req, query)) as QueryValue } =
    declared;
  const statuses = Object.keys(answers).filter((status) => status !== 'default');
  return {
    ...declared,
    ...partsOf(route),
    caller: caller.name,
    // One declaration can serve operators and account holders.
    roles: caller.name === 'operator' ? declared.roles : undefined,
    needsReason: caller.name === 'operator' ? declared.needsReason : undefined,
    readBody: body === undefined ? undefined : jsonBodyUpTo(maxBodyBytes),
    guard: async (needs, req, res) => {
      await guard?.(needs, caller.of(req, res));
    },
    run: async (needs, req, res, { checkAnswers }) => {
      const call = {
        by: caller.of(req, res),
        params: paramsOf(req, params) as z.output<Params>,
        query: readQuery(req),
        headers: (headers === undefined ? {} : headersOf(req, headers)) as z.output<Headers>,
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

/** A form's request, which may have come past Express. The handler reads the fields that `form` describes. */
export type FormCall<By = undefined> = {
  by: By;
  form: Form;
  req: HttpRequest;
  res: HttpResponse;
  requestId: string;
};

/** An operation with a form, which can be served without Express too. */
export type FormOperation<Needs, By, Body> = Operation<Needs> & {
  handle: (needs: Needs, call: FormCall<By>) => Promise<Body>;
  mayCall: Guard<Needs, By> | undefined;
  /** The answer's text. @throws {Error} if `checkAnswers`, and the body isn't what the document promises */
  textOf: (body: Body, checkAnswers: boolean) => string;
};

type FormBody<A> = A extends { schema: infer S extends z.ZodType } ? z.output<S> : undefined;

/**
 * Declares an operation with a form and one answer, of status 200. Forms have no schema at run time, because RFC 6749
 * has an error for each field, and parsing by a schema would double a token's reading.
 */
export function formOperation<By, A extends Answer, Needs>(
  route: `POST /${string}`,
  declared: Omit<Description, 'caller' | 'params' | 'query' | 'body' | 'answers'> & {
    caller: Caller<By>;
    form: z.ZodType;
    answers: { 200: A };
    /** Refuses by a Problem, which `problems` lists, before the form is read. */
    guard?: Guard<Needs, By>;
    handle: (needs: Needs, call: FormCall<By>) => Promise<FormBody<A>>;
    /** In place of JSON.stringify. */
    serialize?: (body: FormBody<A>) => string;
  },
): FormOperation<Needs, By, FormBody<A>> {
  const { caller, answers, guard, handle, serialize = JSON.stringify } = declared;
  const textOf = (body: FormBody<A>, checkAnswers: boolean): string => {
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- an answer may have no schema
    const text = body === undefined ? '' : serialize(body);
    if (checkAnswers) checkReply(route, answers, new Reply(200, text === '' ? undefined : JSON.parse(text)));
    return text;
  };
  return {
    ...declared,
    ...partsOf(route),
    caller: caller.name,
    textOf,
    mayCall: guard,
    readBody: undefined,
    guard: async (needs, req, res) => {
      await guard?.(needs, caller.of(req, res));
    },
    run: async (needs, req, res, { checkAnswers, readForm }) => {
      const form = await readForm(req, res);
      const requestId = String(res.getHeader(REQUEST_ID_HEADER));
      const call = { by: caller.of(req, res), form, req, res, requestId };
      // eslint-disable-next-line @typescript-eslint/no-confusing-void-expression -- as above
      const text = textOf(await handle(needs, call), checkAnswers);
      if (text === '') res.end();
      else res.type('json').send(text);
    },
  };
}

function partsOf(route: string): { method: Method; path: string } {
  const [method, path] = route.split(' ') as [Method, string];
  return { method, path };
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

/** The chapter of operations that are served elsewhere. */
export function describedChapter({ operations, ...chapter }: ApiChapter): Chapter {
  return {
    ...chapter,
    operations: Object.entries(operations).map(([route, description]) => ({
      ...partsOf(route),
      ...description,
    })),
  };
}
