import type { Socket } from 'node:net';
import type { z } from 'zod';
import { createHttpPool } from '@tollgate/plain-http/client';
import type { HttpPool } from '@tollgate/plain-http/client';
import { Problem } from '../problem/problem.ts';
import { basicAuthorization } from './private-api-credential.ts';
import type { ServiceCredential } from './private-api-credential.ts';
import { exchange } from '@tollgate/plain-http/client/exchange';

export type PrivateApiOptions = {
  baseUrl: string;
  credential: ServiceCredential;
  timeoutMs: number;
  /** See @tollgate/plain-http/client. */
  connectionMaxAgeMs: number;
  plainHttp: boolean;
  /** The trace context's fields by request id, as a flat list. */
  traceFields?: (requestId: string) => readonly string[];
  onConnected?: (socket: Socket) => void;
};

/** Calls another service's private API. Every failure is the problem service_unavailable. */
export type PrivateApi = {
  /** Null for 404. */
  get: <T>(path: string, schema: z.ZodType<T>, requestId?: string) => Promise<T | null>;
  postForm: <T>(
    path: string,
    fields: Record<string, string>,
    schema: z.ZodType<T>,
    requestId?: string,
  ) => Promise<T>;
  /** Expects 204. */
  postJson: (path: string, body: unknown, requestId?: string) => Promise<void>;
  /** A POST of JSON with an answer. */
  ask: <T>(path: string, body: unknown, schema: z.ZodType<T>, requestId?: string) => Promise<T>;
  close: () => Promise<void>;
};

/** Our services state a shorter time themselves. */
const KEEP_ALIVE_MS = 60_000;

type Body = { contentType: string; text: string };

export function createPrivateApi(options: PrivateApiOptions): PrivateApi {
  const { credential, timeoutMs, traceFields = () => [] } = options;
  const pool = openPool(options);
  const authorization = basicAuthorization(credential);

  async function call(method: 'GET' | 'POST', path: string, requestId?: string, body?: Body) {
    const headers = ['authorization', authorization, 'accept', 'application/json'];
    if (requestId !== undefined) headers.push('x-request-id', requestId, ...traceFields(requestId));
    if (body !== undefined) headers.push('content-type', body.contentType);
    const bytes = body === undefined ? null : Buffer.from(body.text);
    try {
      return await exchange(pool, { method, path, headers, body: bytes }, timeoutMs);
    } catch (cause) {
      throw new Problem('service_unavailable', { cause });
    }
  }

  function read<T>(schema: z.ZodType<T>, path: string, status: number, text: string): T {
    if (status !== 200) throw unwanted(path, status);
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      // The zod issue may quote personal data of the response.
      throw new Problem('service_unavailable', { cause: new Error(`${path} broke its contract`) });
    }
  }

  function send(path: string, content: unknown, requestId?: string) {
    const body = { contentType: 'application/json', text: JSON.stringify(content) };
    return call('POST', path, requestId, body);
  }

  return {
    get: async (path, schema, requestId) => {
      const { status, text } = await call('GET', path, requestId);
      return status === 404 ? null : read(schema, path, status, text);
    },
    postForm: async (path, fields, schema, requestId) => {
      const form = new URLSearchParams(fields).toString();
      const { status, text } = await call('POST', path, requestId, {
        contentType: 'application/x-www-form-urlencoded',
        text: form,
      });
      return read(schema, path, status, text);
    },
    postJson: async (path, content, requestId) => {
      const { status } = await send(path, content, requestId);
      if (status !== 204) throw unwanted(path, status);
    },
    ask: async (path, content, schema, requestId) => {
      const { status, text } = await send(path, content, requestId);
      return read(schema, path, status, text);
    },
    close: () => pool.close(),
  };
}

function openPool(options: PrivateApiOptions): HttpPool {
  const { baseUrl, timeoutMs, connectionMaxAgeMs, plainHttp, onConnected } = options;
  return createHttpPool(baseUrl, {
    connections: 32,
    plainHttp,
    connectTimeoutMs: timeoutMs,
    // Each exchange has a limit of its own, which also counts the wait for a connection.
    headersTimeoutMs: 2 * timeoutMs,
    bodyIdleTimeoutMs: 2 * timeoutMs,
    keepAliveMs: KEEP_ALIVE_MS,
    maxAgeMs: connectionMaxAgeMs,
    onConnected: (_seconds, socket) => onConnected?.(socket),
  });
}

function unwanted(path: string, status: number): Problem {
  return new Problem('service_unavailable', { cause: new Error(`${path} answered ${String(status)}`) });
}
