import type { IncomingMessage } from 'node:http';
import { Pool } from 'undici';
import { queryOf } from '../headers/request-head.ts';
import { AnswerRelay } from './answer-relay.ts';
import type { ForwardOutcome, Relay } from './answer-relay.ts';
import { requestBody } from './request-body.ts';
import type { RequestBody } from './request-body.ts';
import { upstreamRequestFields } from './request-fields.ts';
import type { Identity } from './request-fields.ts';
import { upstreamPath } from './upstream-path.ts';

type ForwardedCall = Pick<Relay, 'res' | 'requestId' | 'billingStatus' | 'settle'> & {
  req: IncomingMessage;
  identity: Identity;
};

export type Forward = (call: ForwardedCall) => Promise<ForwardOutcome>;

export type ForwarderOptions = {
  upstreamUrl: string;
  connections: number;
  /** Waiting for a connection: a new one, or a free one where all are in use. */
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  /** Silence within a body: of the caller that sends or reads one, of the upstream that answers. */
  bodyIdleTimeoutMs: number;
  maxRequestBodyBytes: number;
  defaultPoints: number;
};

/**
 * Part 4 of a data call: the exchange with the upstream, streamed both ways. It resolves when the exchange is
 * over, and rejects only while nothing has been sent to the caller.
 * @throws {Problem} payload_too_large; upstream_unreachable; upstream_timeout; service_unavailable where all
 * connections to the upstream stay in use.
 */
export function createForwarder(options: ForwarderOptions): { forward: Forward; close: () => Promise<void> } {
  const { connectTimeoutMs, bodyIdleTimeoutMs, defaultPoints } = options;
  const bodyLimits = { maxBytes: options.maxRequestBodyBytes, idleTimeoutMs: bodyIdleTimeoutMs };
  const { origin, pathname } = new URL(options.upstreamUrl);
  const pool = new Pool(origin, {
    connections: options.connections,
    pipelining: 1,
    // Over HTTP/2 one lost connection would take many calls along.
    allowH2: false,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: bodyIdleTimeoutMs,
  });

  function exchange(call: ForwardedCall, { body, lengthBytes }: RequestBody): Promise<ForwardOutcome> {
    const { req, requestId, identity } = call;
    const method = req.method ?? 'GET';
    const headers = upstreamRequestFields(req, identity, requestId);
    if (lengthBytes !== null) headers.push('content-length', String(lengthBytes));
    const relay = { ...call, defaultPoints, stallTimeoutMs: bodyIdleTimeoutMs };
    let waiting: NodeJS.Timeout | undefined;
    const outcome = new Promise<ForwardOutcome>((resolve, reject) => {
      const handler = new AnswerRelay(relay, { resolve, reject });
      const path = upstreamPath(pathname, method, queryOf(req));
      const poolIsFree = pool.dispatch({ method, path, headers, body }, handler);
      // The client's own time limits begin only when a request has got its connection.
      if (poolIsFree) return;
      waiting = setTimeout(() => {
        handler.giveUpWaiting();
      }, connectTimeoutMs);
    });
    return waiting === undefined
      ? outcome
      : outcome.finally(() => {
          clearTimeout(waiting);
        });
  }

  return {
    forward: async (call) => {
      const body = await requestBody(call.req, bodyLimits);
      return body === null || call.res.destroyed ? 'aborted' : exchange(call, body);
    },
    close: () => pool.close(),
  };
}
