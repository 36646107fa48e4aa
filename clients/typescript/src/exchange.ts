import { ConnectionError, RateLimitError } from './errors.ts';
import { errorOfResponse } from './read-errors.ts';
import type { Tokens } from './tokens.ts';
import { delay } from './waiting.ts';

export type Bounds = {
  fetch: typeof fetch;
  /** From a request to the end of its response. */
  timeoutMs: number;
  /** Of all waits of a call together. */
  maxWaitMs: number;
  /** Of a response, after decoding. */
  maxBytes: number;
};

/** Without tokens for a request of a token. */
export type Sender = Bounds & { tokens?: Tokens; isFixedToken?: boolean };

/** A POST if it has a body. */
export type Outgoing = {
  body?: string | URLSearchParams;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Sending it twice changes nothing. */
  isRepeatable?: boolean;
};

export type Answer = { status: number; headers: Headers; json: unknown };

/** How often a request is sent at most. */
const MAX_ATTEMPTS = 3;

/** Nothing came back: what changes nothing may be sent again. */
class UnansweredError extends ConnectionError {}

/**
 * Sends a request: again when `Retry-After` says so, once more if it got no response, and once more with another
 * token after a 401 that is about the token.
 * @throws {TollgateError} unless the response is 2xx
 */
export async function send(url: string, outgoing: Outgoing, sender: Sender): Promise<Answer> {
  const { isRepeatable = true, signal } = outgoing;
  const { tokens, isFixedToken = false } = sender;
  let leftMs = sender.maxWaitMs;
  let mayRenew = !isFixedToken;
  let wasUnanswered = false;
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === MAX_ATTEMPTS;
    // A failure of it is final: its request has had its retries.
    const token = await tokens?.get(signal);
    let answer: Answer;
    try {
      answer = await exchange(url, outgoing, token, sender);
    } catch (error) {
      if (!(error instanceof UnansweredError) || !isRepeatable || wasUnanswered || isLast) throw error;
      wasUnanswered = true;
      continue;
    }
    const { status, headers, json } = answer;
    if (status < 300) return answer;
    if (status === 401 && token !== undefined && mayRenew && !headers.has('proxy-status')) {
      mayRenew = false;
      tokens?.refuse(token);
      if (!isLast) continue;
    }
    const error = errorOfResponse(status, headers, json);
    // A call over the plan's rate wasn't executed; one that met an outage may have been.
    const mayRepeat = (status === 429 || status === 503) && (isRepeatable || error instanceof RateLimitError);
    const waitMs = mayRepeat ? (error.retryAfterMs ?? Infinity) : Infinity;
    if (isLast || waitMs > leftMs) throw error;
    leftMs -= waitMs;
    await delay(waitMs, signal);
  }
}

/**
 * One request and its JSON response. Redirects aren't followed: they would carry the secret or the token elsewhere.
 * @throws {ConnectionError} if there is no response, or a 2xx that isn't JSON
 */
async function exchange(
  url: string,
  { signal: given, headers: own, body }: Outgoing,
  token: string | undefined,
  { fetch, timeoutMs, maxBytes }: Bounds,
): Promise<Answer> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort();
  }, timeoutMs);
  const signal = given === undefined ? stop.signal : AbortSignal.any([given, stop.signal]);
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const sent = { accept: 'application/json', ...own, ...authorization };
  const method = body === undefined ? 'GET' : 'POST';
  let response: Response | undefined;
  try {
    response = await fetch(url, { method, body: body ?? null, headers: sent, signal, redirect: 'manual' });
    const { status, headers, ok } = response;
    const fail = (code: string, message: string) => new ConnectionError({ code, message, status });
    // Browsers show a redirect as an opaque response with status 0.
    if (status < 200 || (status >= 300 && status < 400))
      throw fail('redirected', 'The server answered with a redirect, which is not followed. Check the URL.');
    const json = await boundedJson(response, maxBytes);
    // Of an error response the status says enough.
    if (ok && json === undefined) throw fail('invalid_response', 'The response is not JSON.');
    return { status, headers, json };
  } catch (cause) {
    given?.throwIfAborted();
    if (cause instanceof ConnectionError) throw cause;
    if (stop.signal.aborted)
      throw new ConnectionError({ code: 'timeout', message: `It took more than ${String(timeoutMs)} ms.` });
    const Class = response === undefined ? UnansweredError : ConnectionError;
    throw new Class({ code: 'connection_failed', message: 'The connection failed.', cause });
  } finally {
    clearTimeout(timer);
    // The rest of what isn't read.
    stop.abort();
  }
}

/** Undefined if it isn't JSON. */
async function boundedJson({ body, status }: Response, maxBytes: number): Promise<unknown> {
  let bytes = 0;
  const bounded = new TransformStream<Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      const message = `It has more than ${String(maxBytes)} bytes.`;
      if (bytes > maxBytes) throw new ConnectionError({ code: 'response_too_large', message, status });
      controller.enqueue(chunk);
    },
  });
  const text = await new Response(body?.pipeThrough(bounded)).text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
