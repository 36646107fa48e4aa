import { ConnectionError, RateLimitError, TollgateError } from './errors.ts';
import { delay } from './waiting.ts';

export type Bounds = {
  fetch: typeof fetch;
  /** From a request to the end of its response. */
  timeoutMs: number;
  /** Of a response, after decoding. */
  maxBytes: number;
};

export type Answer = { status: number; headers: Headers; json: unknown };

/** Nothing came back: what changes nothing may be sent again. */
class UnansweredError extends ConnectionError {}

/**
 * One request and its JSON response. Redirects aren't followed: they would carry the secret or the token elsewhere.
 * @throws {ConnectionError} if there is no response, or a 2xx that isn't JSON
 */
export async function exchange(
  url: string,
  { signal: given, ...init }: RequestInit,
  { fetch, timeoutMs, maxBytes }: Bounds,
): Promise<Answer> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort();
  }, timeoutMs);
  const signal = given === undefined || given === null ? stop.signal : AbortSignal.any([given, stop.signal]);
  let response: Response | undefined;
  try {
    response = await fetch(url, { ...init, signal, redirect: 'manual' });
    const { status, headers, ok } = response;
    const fail = (code: string, message: string) => new ConnectionError({ code, message, status });
    // Browsers show a redirect as an opaque response with status 0.
    if (status < 200 || (status >= 300 && status < 400)) {
      throw fail('redirected', 'The server answered with a redirect, which is not followed. Check the URL.');
    }
    const text = await boundedText(response, maxBytes);
    if (text === undefined) throw fail('response_too_large', `It has more than ${String(maxBytes)} bytes.`);
    const json = parsed(text);
    // Of an error response the status says enough.
    if (ok && json === undefined) throw fail('invalid_response', 'The response is not JSON.');
    return { status, headers, json };
  } catch (cause) {
    given?.throwIfAborted();
    if (cause instanceof ConnectionError) throw cause;
    if (stop.signal.aborted) {
      throw new ConnectionError({ code: 'timeout', message: `It took more than ${String(timeoutMs)} ms.` });
    }
    const Class = response === undefined ? UnansweredError : ConnectionError;
    throw new Class({ code: 'connection_failed', message: 'The connection failed.', cause });
  } finally {
    clearTimeout(timer);
    // The rest of what isn't read.
    stop.abort();
  }
}

/** Undefined if there are more than `maxBytes`. */
async function boundedText({ body }: Response, maxBytes: number): Promise<string | undefined> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; bytes <= maxBytes;) {
    const read = await reader?.read();
    if (read === undefined || read.done) return text + decoder.decode();
    bytes += read.value.byteLength;
    text += decoder.decode(read.value, { stream: true });
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type RetryPolicy = {
  /** Sending it twice changes nothing. */
  isRepeatable: boolean;
  /** Of all waits together. */
  maxWaitMs: number;
  signal?: AbortSignal | undefined;
  isFinal?: (error: unknown) => boolean;
};

/** How often a request is sent at most. */
export const MAX_ATTEMPTS = 3;

/** Repeats what `Retry-After` allows to repeat, and once what got no response. */
export async function withRetries<T>(work: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  let leftMs = policy.maxWaitMs;
  let wasUnanswered = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isFirstUnanswered: boolean = error instanceof UnansweredError && !wasUnanswered;
      wasUnanswered ||= isFirstUnanswered;
      const waitMs = isFirstUnanswered && policy.isRepeatable ? 0 : statedWaitMs(error, policy);
      if (attempt === MAX_ATTEMPTS || waitMs > leftMs || policy.isFinal?.(error) === true) throw error;
      leftMs -= waitMs;
      await delay(waitMs, policy.signal);
    }
  }
}

/** A call over the plan's rate wasn't executed; one that met an outage may have been. */
function statedWaitMs(error: unknown, { isRepeatable }: RetryPolicy): number {
  if (!(error instanceof TollgateError) || (error.status !== 429 && error.status !== 503)) return Infinity;
  return isRepeatable || error instanceof RateLimitError ? (error.retryAfterMs ?? Infinity) : Infinity;
}
