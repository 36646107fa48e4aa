import type { Logger } from '@tollgate/log';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { keepFew, keepPerHead, repeatsHead } from '@tollgate/plain-http/repeated-heads';
import { queryOf } from '@tollgate/http/request-head';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import { passedOn } from '@tollgate/trace/context';
import type { CallTrace } from '../../trace/traces.ts';
import { createAbandonedCalls } from './abandoned-calls.ts';
import type { AbandonedCalls } from './abandoned-calls.ts';
import { createAnswerRules } from './answer/answer-rules.ts';
import type { CorsFields } from './answer/answer-rules.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeLimits } from './exchange.ts';
import { createPriceLog } from './price/price-log.ts';
import type { Answer, RelayOptions } from './answer/answer.ts';
import type { ReadCall } from '../../operation-reader/read-call.ts';
import { callersFields, gatewayFields } from './request/request-fields.ts';
import type { CallerIds } from './request/request-fields.ts';
import type { Room } from '../../http/room.ts';
import { createUpstreams } from './upstream/upstreams.ts';
import type { UpstreamsOptions } from './upstream/upstreams.ts';

type ForwardedCall = Pick<
  RelayOptions,
  'res' | 'requestId' | 'billingStatus' | 'estimatedPoints' | 'rateLimitState' | 'onStream'
> & {
  req: HttpRequest;
  read: ReadCall;
  reservedPoints: number;
  callerIds: CallerIds;
  trace: CallTrace | null;
};

export type Forward = (call: ForwardedCall) => Promise<Answer>;

export type ForwarderOptions = UpstreamsOptions &
  ExchangeLimits & {
    /** For silence within a body of the upstream, or of a caller that doesn't read. */
    bodyIdleTimeoutMs: number;
    streamSlots: Pick<Room, 'take'>;
    trusts: TrustsAddress;
    logger: Pick<Logger, 'warn'>;
    /** Null if the gateway leaves cross-origin requests to the upstream. */
    cors: CorsFields | null;
  };

const NONE: readonly string[] = [];

/** From which calls with one head come: a caller's own, or those of the proxies before the gateway. */
const ADDRESSES_PER_HEAD = 8;

/** The caller has gone before its request was sent. */
const ABORTED: Answer = { usage: null, stream: null, brokenOff: 'aborted', complete: () => 'aborted' };

type Forwarder = {
  forward: Forward;
  abandoned: Pick<AbandonedCalls, 'count' | 'end'>;
  close: () => Promise<void>;
};

/**
 * Forwards a call: the exchange with the upstream, streamed both ways. Resolves when the response has arrived, all of
 * it but its end sent to the caller, or is broken off. Rejects only while nothing has been sent to the caller.
 * @throws {Problem} upstream_unreachable; upstream_timeout; service_unavailable if all connections to the upstream stay
 * in use, or no stream has room; too_many_streams; payload_too_large, request_timeout, invalid_request for the rest of an
 * upload.
 */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { bodyIdleTimeoutMs, streamSlots } = options;
  const upstreams = createUpstreams(options);
  const abandoned = createAbandonedCalls();
  const logPrice = createPriceLog(options.logger);
  const exchange = {
    upstreams,
    limits: options,
    observer: options.observer,
    abandoned,
    logPrice,
    streamSlots,
  };
  const answerRules = createAnswerRules(options.urls, options.cors);
  // What is kept with a head must not hold its first request, and with it the connection.
  const fieldsFrom = keepPerHead(({ rawHeaders, httpVersion }) =>
    keepFew(ADDRESSES_PER_HEAD, (remoteAddress: string | undefined) =>
      callersFields({ rawHeaders, httpVersion, socket: { remoteAddress } }, options.trusts(remoteAddress)),
    ),
  );

  function forward(call: ForwardedCall): Promise<Answer> {
    const { req, res, read, requestId, callerIds, billingStatus, rateLimitState, onStream, trace } = call;
    const { estimatedPoints, reservedPoints } = call;
    const { payerId } = callerIds;
    if (res.destroyed) return Promise.resolve(ABORTED);
    const { body, lengthBytes, contentCoding, operations } = read;
    const own = gatewayFields(callerIds, requestId, trace?.fields() ?? passedOn(null, requestId));
    // A list that later requests have, too, is put together once (docs/design/forwarding.md).
    const isShared = repeatsHead(req);
    const { remoteAddress } = req.socket;
    const fields = isShared
      ? fieldsFrom(req)(remoteAddress)
      : callersFields(req, options.trusts(remoteAddress));
    const headers = isShared ? own : [...fields, ...own];
    if (lengthBytes !== null) headers.push('content-length', String(lengthBytes));
    if (contentCoding !== null) headers.push('content-encoding', contentCoding);
    const request = {
      method: req.method ?? 'GET',
      query: read.query ?? queryOf(req),
      body,
      operations,
      estimatedPoints,
      reservedPoints,
      trace,
      payerId,
      leaveStreams: operations.type === 'subscription' ? streamSlots.take(payerId, 1).release : null,
      sharedHeaders: isShared ? fields : NONE,
      headers,
    };
    const stallTimeoutMs = bodyIdleTimeoutMs;
    const relayOptions = {
      res,
      operationType: operations.type,
      requestId,
      billingStatus,
      estimatedPoints,
      rateLimitState,
      answerRules,
      stallTimeoutMs,
      onStream,
    };
    return new Promise((resolve, reject) => {
      new Exchange(exchange, request, relayOptions, { resolve, reject }).begin();
    });
  }

  return {
    forward,
    abandoned,
    close: upstreams.close,
  };
}
