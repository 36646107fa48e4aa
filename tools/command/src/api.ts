import { z } from 'zod';
import type { Connection } from './config.ts';
import { EXIT, Failure, Refusal } from './failures.ts';

/** An answer of the operators' API: its JSON, and the text that it came as. */
export type Answer = { text: string; body: Record<string, unknown> };

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** Calls the operators' API on account's private listener. */
export type Api = {
  /** @throws {Failure} what the API refuses, or that it can't be reached */
  get: (path: string, query?: Parameters) => Promise<Answer>;
  /** The same, with a JSON body where there is one. */
  send: (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) => Promise<Answer>;
};

const problemSchema = z.object({
  title: z.string(),
  code: z.string(),
  detail: z.string().optional(),
  request_id: z.string().optional(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
});

const bodySchema = z.record(z.string(), z.unknown());

export function createApi(
  { url, authorization }: Pick<Connection, 'url' | 'authorization'>,
  timeoutMs: number,
): Api {
  async function call(method: string, path: string, body?: unknown): Promise<Answer> {
    const { status, text } = await exchange(method, path, body);
    if (status >= 200 && status < 300) return answerOf(text);
    throw failureOf(status, text);
  }

  async function exchange(method: string, path: string, body: unknown) {
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // The API never redirects, and a redirect would send the credential elsewhere.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, text: await response.text() };
    } catch (cause) {
      throw unreachable(`${url} can't be reached: ${reasonOf(cause, timeoutMs)}.`);
    }
  }

  /** @throws {Failure} where something else answers at this address */
  function answerOf(text: string): Answer {
    if (text === '') return { text, body: {} };
    const body = bodySchema.safeParse(jsonOf(text));
    if (body.success) return { text, body: body.data };
    throw unreachable(`What answers at ${url} is not Tollgate's private API.`);
  }

  function failureOf(status: number, text: string): Failure {
    const problem = problemSchema.safeParse(jsonOf(text));
    if (!problem.success) {
      return unreachable(`What answers at ${url} is not Tollgate's private API (status ${String(status)}).`);
    }
    const refusal = new Refusal(status, text, problem.data);
    return status < 500 ? refusal : unreachable(refusal.message);
  }

  return {
    get: (path, query = {}) => call('GET', `${path}${queryText(query)}`),
    send: (method, path, body) => call(method, path, body),
  };
}

function queryText(query: Parameters): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
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
