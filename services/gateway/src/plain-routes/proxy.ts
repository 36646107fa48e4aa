import { Agent as HttpAgent } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Request, RequestHandler, Response } from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { endToEndFields } from '../forward/answer/end-to-end-fields.ts';
import { forwardedFields } from '../http/forwarded-for.ts';
import { connectionOptions, forwardsRequestField } from '../http/forwardable.ts';
import { fieldValues } from '@tollgate/http/request-head';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import { limitConnectTime } from './connect-time.ts';
import { limitConnectionAge } from './connection-age.ts';
import { passedOn, traceParentOf } from '@tollgate/trace/context';

/** Connections to one peer. */
const MAX_SOCKETS = 256;
const MAX_FREE_SOCKETS = 32;

const CONNECT_TIMEOUT_MS = 3_000;

export type Proxy = {
  handler: RequestHandler;
  /** Ends the responses under way. */
  endAll: () => void;
  close: () => void;
};

export type ProxyOptions = {
  /** For a peer's silence. */
  timeoutMs: number;
  connectionMaxAgeMs: number;
  unavailable: (cause: unknown) => Error;
  trusts: TrustsAddress;
  /** Header fields of the peer that the gateway replaces. */
  drops: readonly string[];
  /** Requests at one time; beyond it they fail with `unavailable`. Without it they wait for a connection. */
  maxOpen?: number;
};

/** Passes requests on to a peer's public listener, credentials included; fails with `unavailable`'s error. */
export function createProxy(
  peerUrl: string,
  { timeoutMs, connectionMaxAgeMs, unavailable, trusts, drops, maxOpen }: ProxyOptions,
): Proxy {
  const maxSockets = maxOpen ?? MAX_SOCKETS;
  const limits = { keepAlive: true, maxSockets, maxFreeSockets: MAX_FREE_SOCKETS };
  const agent = peerUrl.startsWith('https:') ? new HttpsAgent(limits) : new HttpAgent(limits);
  limitConnectTime(agent, CONNECT_TIMEOUT_MS);
  limitConnectionAge(agent, connectionMaxAgeMs);
  const dropped = new Set([REQUEST_ID_HEADER, ...drops]);
  // The library has one error listener for all requests.
  const onFailure = new WeakMap<object, (cause: unknown) => void>();
  const open = new Map<Response, IncomingMessage | null>();
  const proxy = createProxyMiddleware<Request, Response>({
    target: peerUrl,
    agent,
    changeOrigin: true,
    proxyTimeout: timeoutMs,
    // relayAnswer applies the data path's header rules.
    selfHandleResponse: true,
    on: {
      proxyRes: (answer, _req, res) => {
        if (open.has(res)) open.set(res, answer);
        relayAnswer(answer, res, dropped);
      },
      error: (error, _req, res) => onFailure.get(res)?.(error),
    },
  });
  return {
    handler: (req, res, next) => {
      if (open.size >= maxSockets && maxOpen !== undefined) {
        next(unavailable(new Error('too many requests are open')));
        return;
      }
      open.set(res, null);
      res.once('close', () => {
        open.delete(res);
      });
      req.headers = peerRequestHeaders(
        req,
        String(res.getHeader(REQUEST_ID_HEADER)),
        trusts(req.socket.remoteAddress),
      );
      const fail = (cause: unknown) => {
        if (onFailure.delete(res)) next(unavailable(cause));
      };
      onFailure.set(res, fail);
      void proxy(req, res, fail);
    },
    endAll: () => {
      for (const [res, answer] of open) {
        if (answer === null) continue;
        answer.unpipe(res);
        res.end();
        answer.destroy();
      }
    },
    close: () => {
      agent.destroy();
    },
  };
}

function peerRequestHeaders(req: IncomingMessage, requestId: string, trusted: boolean): IncomingHttpHeaders {
  const listed = connectionOptions(fieldValues(req.rawHeaders, 'connection'));
  const headers: IncomingHttpHeaders = {};
  for (const name in req.headers) {
    if (forwardsRequestField(name, listed)) headers[name] = req.headers[name];
  }
  // Connection must not remove the framing: the body would be read as the next request (CVE-2026-29057).
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  if (coding !== undefined) headers['transfer-encoding'] = 'chunked';
  else if (length !== undefined) headers['content-length'] = length;
  const trace = passedOn(trusted ? traceParentOf(req.rawHeaders) : null, requestId);
  const own = [...forwardedFields(req, trusted), REQUEST_ID_HEADER, requestId, ...trace];
  for (let index = 0; index + 1 < own.length; index += 2) headers[own[index] ?? ''] = own[index + 1];
  return headers;
}

function relayAnswer(answer: IncomingMessage, res: Response, dropped: ReadonlySet<string>): void {
  res.writeHead(
    answer.statusCode ?? 502,
    endToEndFields(answer.headers, (name) => dropped.has(name)),
  );
  const cutIncomplete = () => {
    if (!answer.complete && !res.destroyed && !res.writableEnded) cutAnswer(res);
  };
  // Before the library does so by an orderly close.
  answer.once('error', cutIncomplete).once('close', cutIncomplete);
  answer.pipe(res);
}
