import { setImmediate } from 'node:timers/promises';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Logger } from '@tollgate/log';
import type { AccessLog } from '@tollgate/log/access-log';
import { newRequestId } from '@tollgate/log/request-id';
import type { HttpHandler, HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { keepPerHead } from '@tollgate/plain-http/repeated-heads';
import { Problem, toProblem } from '@tollgate/http/problem';
import { cutAnswer } from '@tollgate/http/cut-answer';
import type { AddressOf } from '@tollgate/http/error-handler';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { slotOf } from './admit/admit.ts';
import type { Admit } from './admit/admit.ts';
import type { Lease } from '../ledger/leases.ts';
import { bearerToken, presentedToken } from '../http/bearer-token.ts';
import { discardRest } from '../http/discard-rest.ts';
import { whoOf } from './authenticate/authenticate.ts';
import type { Authenticate } from './authenticate/authenticate.ts';
import type { Entitle } from './entitle/entitle.ts';
import type { PayerEntitlement } from '../ledger/principal.ts';
import type { ForwardOutcome } from './forward/answer/answer.ts';
import type { Forward } from './forward/forward.ts';
import type { Settle } from './settle/settle-call.ts';
import { operationName, operationNameOf } from '../refusals/operation-name.ts';
import type { RecordRefusal } from '../refusals/refused-calls.ts';
import type { MeterStream } from '../streams/answer-stream.ts';
import { callerIds } from './forward/request/request-fields.ts';
import type { OpenStream } from '../streams/stream-meter.ts';
import type { TokenWatch } from './authenticate/token-watch.ts';
import type { CallTrace, Traces } from '../trace/traces.ts';
import { ofOperation } from '../operation-reader/batch-index.ts';
import type { Operations } from '../operation-reader/operation-reader.ts';
import type { DocumentsOf } from '../operation-reader/open-stored-documents.ts';
import type { StoredDocuments } from '../operation-reader/stored-documents.ts';
import type { ReadCall, ReadDataCall } from '../operation-reader/read-call.ts';
import { assertDataRequest } from './data-request.ts';
import { askedFor } from '../estimate/estimate-only.ts';
import { answerCosts } from '../estimate/schema-costs.ts';
import type { AnswerEstimate } from '../estimate/estimate-only.ts';
import { needsPrice } from '../estimate/check-price.ts';
import type { CheckPrice } from '../estimate/check-price.ts';
import { estimateCaller } from '../estimate/estimate-rate.ts';
import type { EstimateCaller, EstimateRate } from '../estimate/estimate-rate.ts';
import type { Estimates } from '../estimate/estimates.ts';
import type { LogFailure } from '../refusals/failure-log.ts';
import { sendRefusal } from '../refusals/graphql-refusal.ts';

export type DataCallOutcome = ForwardOutcome | ErrorCode;

export type PipelineStep = 'authenticate' | 'entitle' | 'read' | 'admit' | 'forward';

export type DataCallOptions = {
  authenticate: Authenticate;
  entitle: Entitle;
  readCall: ReadDataCall;
  documentsOf: DocumentsOf;
  estimates: Estimates;
  estimateRate: EstimateRate;
  checkPrice: CheckPrice;
  /** Of a subscription. */
  pointsPerMinute: number;
  answerEstimate: AnswerEstimate;
  admit: Admit;
  forward: Forward;
  meterStream: MeterStream;
  settle: Settle;
  logger: Pick<Logger, 'debug' | 'error'>;
  /** Called when a call begins; the returned function, when it ends. That one returns the milliseconds in between. */
  onCall: () => (outcome: DataCallOutcome) => number;
  /** The returned function is called at the end of each step, and returns the ms since the head. */
  onSteps: () => (part: PipelineStep) => number;
  tokenWatch: Pick<TokenWatch, 'hold' | 'release'>;
  traces: Pick<Traces, 'begin'>;
  logFailure: LogFailure;
  recordRefusal: RecordRefusal;
  addressOf: AddressOf;
  accessLog: Pick<AccessLog, 'note'> | null;
  apiVersion: UsageEvent['api_version'];
};

/** Filled in as the call gets there; a refusal is recorded with what is known. */
type KnownOfCall = {
  token: ActiveToken | null;
  /** Whether more than a price is asked for: only a call is recorded if it is refused. */
  isCall: boolean;
  payer: PayerEntitlement | null;
  operations: Operations | null;
  /** Null without an estimate. */
  estimatedPoints: number | null;
  /** Null for a stream, which costs by the minute. */
  points: number | null;
};

type Serve = (
  req: HttpRequest,
  res: HttpResponse,
  requestId: string,
  trace: CallTrace | null,
  known: KnownOfCall,
) => Promise<ForwardOutcome>;

/**
 * The data endpoint, `POST` and `GET /graphql`: authenticate → entitle → read → admit → forward → settle. It uses plain
 * node:http or the fast path (docs/design/listeners.md), because express would cost a quarter of the throughput. Every
 * response has a new X-Request-Id.
 */
export function createDataEndpoint(options: DataCallOptions): HttpHandler {
  const { logger, onCall, traces, logFailure, recordRefusal, addressOf, accessLog, apiVersion } = options;
  const serve = createServe(options);

  function refuse(
    req: HttpRequest,
    res: HttpResponse,
    requestId: string,
    error: unknown,
    { payer, estimatedPoints }: KnownOfCall,
  ): Problem {
    const problem = toProblem(error);
    if (problem.status >= 500) logFailure(requestId, problem, addressOf(req));
    sendRefusal(req, res, problem, requestId, {
      ...(payer === null ? {} : { 'x-billing-status': payer.billingStatus }),
      ...(estimatedPoints === null ? {} : { 'x-points-estimate': String(estimatedPoints) }),
    });
    return problem;
  }

  async function answer(req: HttpRequest, res: HttpResponse, requestId: string): Promise<void> {
    accessLog?.note(req, { request_id: requestId });
    const ended = onCall();
    const trace = traces.begin(req, requestId);
    const known: KnownOfCall = {
      token: null,
      isCall: true,
      payer: null,
      operations: null,
      estimatedPoints: null,
      points: 0,
    };
    let problem: Problem | undefined;
    let outcome: DataCallOutcome;
    try {
      outcome = await serve(req, res, requestId, trace, known);
    } catch (error) {
      problem = refuse(req, res, requestId, error, known);
      outcome = problem.code;
    }
    const durationMs = ended(outcome);
    trace?.end(outcome, res.statusCode);
    discardRest(req, res);
    const code = failureOf(outcome, res.statusCode);
    if (code !== null && known.isCall) {
      recordRefusal({
        requestId,
        kind: 'call',
        code,
        status: res.statusCode,
        detail: problem?.detail,
        active: known.token,
        payerId: known.payer?.payerId ?? null,
        token: known.token === null ? presentedToken(req.rawHeaders) : undefined,
        address: addressOf(req),
        apiVersion,
        durationMs,
        points: problem === undefined ? known.points : Number(problem.headers['x-points-cost'] ?? 0),
        operationName: () => operationName(known.operations?.operationName) ?? operationNameOf(req),
      });
    }
    // At info level, a line per call would be the largest cost of the pipeline.
    logger.debug({ request_id: requestId, outcome }, 'data call');
  }

  return (req, res) => {
    const requestId = newRequestId();
    answer(req, res, requestId).catch((error: unknown) => {
      logger.error(
        { request_id: requestId, address: addressOf(req), err: error },
        'a call ended without a response',
      );
      cutAnswer(res);
    });
  };
}

/** The upstream's own errors are passed on, and recorded as one code with their status. */
function failureOf(outcome: DataCallOutcome, status: number): string | null {
  if (outcome === 'answered') return status >= 400 ? 'upstream_error' : null;
  return outcome === 'aborted' ? null : outcome;
}

/** A payer that may not call can still ask for prices. */
async function payerOrCode(entitle: () => ReturnType<Entitle>): Promise<PayerEntitlement | ErrorCode> {
  try {
    return await entitle();
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return error.code;
    throw error;
  }
}

function createServe(options: DataCallOptions): Serve {
  const { authenticate, entitle, readCall, documentsOf, admit, forward, meterStream, settle } = options;
  const { estimates, estimateRate, checkPrice, answerEstimate, pointsPerMinute } = options;
  const { onSteps, accessLog, apiVersion, tokenWatch } = options;
  const assertDataHead = keepPerHead(assertDataRequest);
  const askedBy = keepPerHead(askedFor);

  function onUnread(error: unknown, caller: EstimateCaller): never {
    estimateRate.takeRefused(error, caller);
    throw error;
  }

  const readGuarded = (
    req: HttpRequest,
    payer: PayerEntitlement,
    documents: StoredDocuments,
    token: ActiveToken,
  ): ReturnType<ReadDataCall> => {
    try {
      const reading = readCall(req, payer, documents);
      return reading instanceof Promise
        ? reading.catch((error: unknown) => onUnread(error, estimateCaller(token, payer)))
        : reading;
    } catch (error) {
      return onUnread(error, estimateCaller(token, payer));
    }
  };

  async function assertTrusted(
    { requests, isLong, operations }: ReadCall,
    whyUntrusted: NonNullable<StoredDocuments['whyUntrusted']>,
    caller: EstimateCaller,
  ): Promise<void> {
    for (const [index, request] of requests.entries()) {
      const untrusted = whyUntrusted(request);
      if (untrusted !== null)
        onUnread(operations.isBatch ? ofOperation(untrusted, index) : untrusted, caller);
      if (isLong) await setImmediate();
    }
  }

  async function priceOf(payer: PayerEntitlement, read: ReadCall, token: ActiveToken): Promise<number> {
    try {
      const { requests, isLong, operations } = read;
      const asked = { type: operations.type, requests };
      return await checkPrice(payer, asked, isLong ? () => estimates.prepare(read) : undefined);
    } catch (error) {
      return onUnread(error, estimateCaller(token, payer));
    }
  }

  async function serveCosts(
    res: HttpResponse,
    requestId: string,
    token: ActiveToken,
  ): Promise<ForwardOutcome> {
    const payer = await payerOrCode(() => entitle(token, requestId));
    estimateRate.takeEstimate(estimateCaller(token, typeof payer === 'string' ? null : payer));
    answerCosts(res, estimates, requestId);
    return 'answered';
  }

  /** Nothing is admitted, sent or recorded. */
  async function serveEstimate(
    req: HttpRequest,
    res: HttpResponse,
    requestId: string,
    token: ActiveToken,
  ): Promise<ForwardOutcome> {
    if (estimates.schema() === null) throw new Problem('not_found');
    const payer = await payerOrCode(() => entitle(token, requestId));
    const reading = typeof payer === 'string' ? { payerId: token.account_id, callRules: null } : payer;
    const documents = documentsOf(typeof payer === 'string' ? null : payer);
    estimateRate.takeEstimate(estimateCaller(token, typeof payer === 'string' ? null : payer));
    const read = await readCall(req, reading, documents);
    if (read === null) return 'aborted';
    try {
      if (read.isLong) await estimates.prepare(read);
      await answerEstimate(res, read, { payer, documents }, requestId);
      return 'answered';
    } finally {
      read.release();
    }
  }

  /** How a stream learns that its caller may no longer call. */
  function checksOf(
    req: HttpRequest,
    requestId: string,
    active: ActiveToken,
  ): Pick<OpenStream, 'recheck' | 'watchToken'> {
    return {
      recheck: async () => {
        const token = await authenticate(req, requestId);
        return { token, payer: await entitle(token, requestId) };
      },
      watchToken: (end) => {
        const use = { token: bearerToken(req.rawHeaders) ?? '', active, requestId, end };
        tokenWatch.hold(use, use);
        return () => {
          tokenWatch.release(use);
        };
      },
    };
  }

  return async (req, res, requestId, trace, known) => {
    assertDataHead(req);
    const stepEnded = onSteps();
    trace?.begin('authenticate');
    // Awaiting a cached value would cost as much as the look-up.
    const caller = authenticate(req, requestId);
    const token = caller instanceof Promise ? await caller : caller;
    known.token = token;
    accessLog?.note(req, whoOf(token));
    stepEnded('authenticate');
    const asked = askedBy(req);
    known.isCall = asked === 'call';
    if (asked === 'costs') return serveCosts(res, requestId, token);
    if (asked === 'estimate') return serveEstimate(req, res, requestId, token);
    trace?.begin('entitle');
    const payment = entitle(token, requestId);
    const payer = payment instanceof Promise ? await payment : payment;
    known.payer = payer;
    stepEnded('entitle');
    trace?.begin('read');
    estimateRate.checkCall(token.account_id);
    const documents = documentsOf(payer);
    const reading = readGuarded(req, payer, documents, token);
    const read = reading instanceof Promise ? await reading : reading;
    if (read === null) return 'aborted';
    let slot: Lease | undefined;
    try {
      const { operations } = read;
      known.operations = operations;
      if (documents.whyUntrusted !== null)
        await assertTrusted(read, documents.whyUntrusted, estimateCaller(token, payer));
      if (read.isLong) await estimates.prepare(read);
      known.estimatedPoints = estimates.of(read)?.points ?? null;
      if (needsPrice(payer)) known.estimatedPoints = await priceOf(payer, read, token);
      // Parsed variables take many times the bytes that bodies may have, so no call keeps them.
      read.requests = [];
      stepEnded('read');
      trace?.begin('admit');
      const slotKind = slotOf(operations);
      // A subscription's minute, and what states its price: an event, or the stream's head.
      const perMinute = slotKind === 'subscription' ? pointsPerMinute : 0;
      const reserved = perMinute + (known.estimatedPoints ?? 0);
      const admission = admit(payer, slotKind, operations.count, reserved);
      const { rateLimitState, lease } = admission instanceof Promise ? await admission : admission;
      slot = lease;
      stepEnded('admit');
      const { estimatedPoints } = known;
      const { counted, count } = operations;
      const call = { token, payer, apiVersion, lease, count, counted, estimatedPoints };
      trace?.begin('forward');
      const answer = await forward({
        req,
        res,
        read,
        requestId,
        callerIds: callerIds({ token, payer }),
        billingStatus: payer.billingStatus,
        estimatedPoints,
        reservedPoints: payer.reservesPoints ? reserved : Infinity,
        rateLimitState,
        trace,
        onStream: (open) =>
          meterStream(operations.type, { ...call, admit, ...checksOf(req, requestId, token) }, open),
      });
      const durationMs = stepEnded('forward');
      known.points = answer.stream === null ? (answer.usage?.points ?? 0) : null;
      const settled = settle(call, answer, durationMs);
      if (answer.brokenOff !== null) return answer.brokenOff;
      trace?.begin('settle');
      return answer.complete(await settled);
    } finally {
      slot?.release();
      read.release();
    }
  };
}
