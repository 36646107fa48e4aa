import { errors } from 'undici';
import type { Agent } from 'undici';
import { NoPublicAddressError } from '../../platform/outgoing/connector.ts';
import type { AttemptError } from './delivery-errors.ts';
import { retryAfterSec } from './retry-after.ts';

/** `error` is a code of docs/webhooks.md; null after a 2xx. */
export type Outcome = {
  response_status: number | null;
  /** Null without a connection: the time that DNS took would reveal something about names. */
  duration_ms: number | null;
  error: AttemptError | null;
  retry_after_sec: number | null;
};

/** No more of a response's body is read, and nothing of it is kept. */
const BODY_MAX_BYTES = 4_096;

/** Follows no redirects: the owner chose only this URL. Never throws. */
export async function send(
  { agent, attemptTimeoutMs, stopping }: { agent: Agent; attemptTimeoutMs: number; stopping: AbortSignal },
  { url, headers, payload }: { url: string; headers: Record<string, string>; payload: string },
): Promise<Outcome> {
  const { origin, pathname, search } = new URL(url);
  const startedMs = performance.now();
  const since = () => Math.round(performance.now() - startedMs);
  const signal = AbortSignal.any([AbortSignal.timeout(attemptTimeoutMs), stopping]);
  try {
    const {
      statusCode,
      headers: answered,
      body,
    } = await agent.request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Tollgate-Webhooks', ...headers },
      body: payload,
      signal,
    });
    const duration_ms = since();
    await body.dump({ limit: BODY_MAX_BYTES, signal }).catch(() => undefined);
    return {
      response_status: statusCode,
      duration_ms,
      error: errorOf(statusCode),
      retry_after_sec: retryAfterOf(statusCode, answered['retry-after']),
    };
  } catch (error) {
    const code = codeOf(error, signal);
    return {
      response_status: null,
      duration_ms: code === 'no_public_address' ? null : since(),
      error: code,
      retry_after_sec: null,
    };
  }
}

function errorOf(status: number): AttemptError | null {
  if (status >= 200 && status < 300) return null;
  return status === 410 ? 'gone' : 'unexpected_status';
}

/** Counts for 429 and 503 only; a repeated header is ignored. */
function retryAfterOf(status: number, value: string | string[] | undefined): number | null {
  if (!(status === 429 || status === 503) || typeof value !== 'string') return null;
  return retryAfterSec(value, new Date());
}

function codeOf(error: unknown, signal: AbortSignal): AttemptError {
  if (error instanceof NoPublicAddressError) return 'no_public_address';
  if (signal.aborted || error instanceof errors.ConnectTimeoutError) return 'timeout';
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return 'invalid_response';
  }
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && TLS_CODE.test(code) ? 'tls_failed' : 'connection_failed';
}

/** OpenSSL's and Node's codes for certificate and handshake errors. */
const TLS_CODE = /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;
