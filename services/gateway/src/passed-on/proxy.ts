import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Response } from 'express';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { addressGroup } from '@tollgate/http/address-group';
import type { AddressOf } from '@tollgate/http/error-handler';
import { createHttpPool } from '@tollgate/plain-http/client';
import { Problem, toProblem } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import { passedOn, traceParentOf } from '@tollgate/trace/context';
import { discardRest } from '../http/discard-rest.ts';
import { forwardedFields } from '../http/forwarded-for.ts';
import { connectionOptions, forwardsRequestField } from '../http/forwardable.ts';
import { createOpenRequests } from './open-requests.ts';
import { PeerAnswer } from './peer-answer.ts';
import { createReadWhole } from './whole-body.ts';

const CONNECT_TIMEOUT_MS = 3_000;

/** Our services state a shorter time themselves. */
const KEEP_ALIVE_MS = 60_000;

export type Proxy = {
  handler: RequestHandler;
  /** Ends the responses under way. */
  endAll: () => void;
  close: () => Promise<void>;
};

export type ProxyOptions = {
  /** For a peer's silence. */
  timeoutMs: number;
  connectionMaxAgeMs: number;
  plainHttp: boolean;
  /** The error that a refused request ends with. */
  refusal: (problem: Problem) => Error;
  trusts: TrustsAddress;
  addressOf: AddressOf;
  /** Header fields of the peer that the gateway replaces. */
  drops: readonly string[];
  connections: number;
  /** Requests that may wait for one of them, for as long as CONNECT_TIMEOUT_MS. */
  maxWaiting: number;
  /** Open requests of one address; twice as many of an IPv6 /56 and three times as many of a /48. */
  maxOpenPerAddress: number;
  maxBodyBytes: number;
  bodyTimeoutMs: number;
  /** Bodies under way; beyond it the oldest gives way. */
  maxArriving: number;
  /** See guardAgainstSlowReader. */
  slowReaderMs: number;
};

/**
 * Passes requests on to a peer's public listener, credentials included. What callers share is never held by a slow one:
 * a connection to the peer is taken once the body has arrived, and given back if the answer isn't taken
 * (docs/design/forwarding.md).
 */
export function createProxy(peerUrl: string, options: ProxyOptions): Proxy {
  const { timeoutMs, refusal, trusts, addressOf, drops, slowReaderMs } = options;
  const pool = createHttpPool(peerUrl, {
    connections: options.connections,
    maxWaiting: options.maxWaiting,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    headersTimeoutMs: timeoutMs,
    bodyIdleTimeoutMs: timeoutMs,
    keepAliveMs: KEEP_ALIVE_MS,
    maxAgeMs: options.connectionMaxAgeMs,
    plainHttp: options.plainHttp,
  });
  const openRequests = createOpenRequests(options.maxOpenPerAddress);
  const readWhole = createReadWhole({
    maxBytes: options.maxBodyBytes,
    timeoutMs: options.bodyTimeoutMs,
    maxArriving: options.maxArriving,
  });
  const dropped = new Set([REQUEST_ID_HEADER, ...drops]);
  const answers = new Set<PeerAnswer>();

  function send(req: IncomingMessage, res: Response, body: Buffer | null, failed: (cause: Error) => void) {
    const answer = new PeerAnswer(res, { dropped, slowReaderMs, failed });
    answers.add(answer);
    const requestId = String(res.getHeader(REQUEST_ID_HEADER));
    const request = {
      method: req.method ?? 'GET',
      path: req.url ?? '/',
      headers: peerRequestFields(req, requestId, trusts(req.socket.remoteAddress)),
      body,
      holder: addressGroup(addressOf(req)),
    };
    const stopWaiting = pool.dispatch(request, answer);
    const overdue =
      stopWaiting &&
      setTimeout(() => {
        stopWaiting();
        answer.giveUpWaiting();
      }, CONNECT_TIMEOUT_MS);
    res.once('close', () => {
      stopWaiting?.();
      clearTimeout(overdue ?? undefined);
      answers.delete(answer);
    });
  }

  return {
    handler: (req, res, next) => {
      const leave = openRequests.enter(addressOf(req));
      if (leave === null) {
        next(refusal(unavailable(new Error('too many requests of this address are open'))));
        return;
      }
      res.once('close', leave);
      readWhole(req).then(
        (body) => {
          if (res.destroyed) return;
          send(req, res, body, (cause) => {
            if (!res.destroyed) next(refusal(unavailable(cause)));
          });
        },
        (error: unknown) => {
          next(refusal(toProblem(error)));
          discardRest(req, res);
        },
      );
    },
    endAll: () => {
      for (const answer of answers) answer.end();
    },
    close: pool.close,
  };
}

function unavailable(cause: Error): Problem {
  return cause instanceof Problem ? cause : new Problem('service_unavailable', { cause });
}

function peerRequestFields(req: IncomingMessage, requestId: string, trusted: boolean): string[] {
  const { rawHeaders } = req;
  const listed = connectionOptions(fieldValues(rawHeaders, 'connection'));
  const fields: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (forwardsRequestField(name, listed)) fields.push(name, rawHeaders[index + 1] ?? '');
  }
  const trace = passedOn(trusted ? traceParentOf(rawHeaders) : null, requestId);
  return [...fields, ...forwardedFields(req, trusted), REQUEST_ID_HEADER, requestId, ...trace];
}
