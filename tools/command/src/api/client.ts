import createClient from 'openapi-fetch';
import type { Client } from 'openapi-fetch';
import { z } from 'zod';
import type { Connection } from '../config.ts';
import { EXIT, Failure, Refusal } from '../failures.ts';
import type { components, operations, paths } from './schema.d.ts';

/** Calls the operators' API on account's private listener: docs/openapi-operator.json types paths, bodies and answers. */
export type Api = Client<paths, 'application/json'>;

export type Schemas = components['schemas'];

/** The query of an operation. */
export type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;

/** The JSON body of an operation's request. */
export type Body<Name extends keyof operations> = operations[Name] extends {
  requestBody: { content: { 'application/json': infer Content } };
}
  ? Content
  : never;

/** The JSON that an operation answers with 200. */
export type Result<Name extends keyof operations> = operations[Name]['responses'] extends {
  200: { content: { 'application/json': infer Content } };
}
  ? Content
  : never;

/**
 * What the API answered; undefined for what was deleted.
 * @throws {Failure} what the API refuses, or that it can't be reached
 */
export async function resultOf<Result>(call: Promise<{ data?: Result }>): Promise<Result> {
  // The client's fetch throws where there is none.
  return (await call).data as Result;
}

/** Why something is changed, percent-encoded as header fields need it. */
export type ReasonHeader = { 'X-Reason': string };

export type ApiOptions = { timeoutMs: number; reason?: ReasonHeader | undefined };

export function createApi(
  { url, authorization }: Pick<Connection, 'url' | 'authorization'>,
  { timeoutMs, reason }: ApiOptions,
): Api {
  return createClient<paths, 'application/json'>({
    baseUrl: url,
    headers: { authorization, accept: 'application/json', ...reason },
    // The API never redirects, and a redirect would send the credential elsewhere.
    redirect: 'error',
    fetch: (request) => exchange(url, timeoutMs, request),
  });
}

/**
 * The API's answer if it is a success.
 * @throws {Failure}
 */
export async function exchange(url: string, timeoutMs: number, request: Request): Promise<Response> {
  const { response, text } = await fetchText(url, timeoutMs, request);
  if (!response.ok) throw failureOf(url, response.status, text);
  if (text === '' || objectSchema.safeParse(jsonOf(text)).success) return response;
  throw unreachable(`What answers at ${url} is not Tollgate's private API.`);
}

async function fetchText(url: string, timeoutMs: number, request: Request) {
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(timeoutMs) });
    return { response, text: await response.clone().text() };
  } catch (cause) {
    throw unreachable(`${url} can't be reached: ${reasonOf(cause, timeoutMs)}.`);
  }
}

const objectSchema = z.looseObject({});

const problemSchema = z.object({
  title: z.string(),
  code: z.string(),
  detail: z.string().optional(),
  request_id: z.string().optional(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
});

function failureOf(url: string, status: number, text: string): Failure {
  const problem = problemSchema.safeParse(jsonOf(text));
  if (!problem.success) {
    return unreachable(`What answers at ${url} is not Tollgate's private API (status ${String(status)}).`);
  }
  const refusal = new Refusal(status, text, problem.data);
  return status < 500 ? refusal : unreachable(refusal.message);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const unreachable = (message: string) => new Failure(EXIT.unreachable, message);

/** fetch says "fetch failed"; why is in its cause, of which there are several where a name has several addresses. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return `no answer within ${String(timeoutMs / 1_000)} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}
