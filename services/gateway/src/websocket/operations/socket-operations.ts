import type { CallRules } from '@tollgate/contracts/entitlement';
import { Problem, toProblem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../../ledger/principal.ts';
import { graphqlError } from '../../http/graphql-error.ts';
import type { Principal } from '../../ledger/principal.ts';
import type { OnCompared, SettlementTimeout } from '../../pipeline/settle/settle-call.ts';
import type { ReadOperation } from '../../operation-reader/document-types.ts';
import { isObject } from '../../operation-reader/json.ts';
import { memberTexts, rewritten } from '../../operation-reader/json-text.ts';
import type { DocumentsOf } from '../../operation-reader/open-stored-documents.ts';
import { operationRequest } from '../../operation-reader/operation-reader.ts';
import { needsPrice } from '../../estimate/check-price.ts';
import type { CheckPrice } from '../../estimate/check-price.ts';
import type { OperationRequest } from '../../operation-reader/operation-reader.ts';
import { estimateCaller } from '../../estimate/estimate-rate.ts';
import type { EstimateRate } from '../../estimate/estimate-rate.ts';
import { assertExactVariables, withExactNames } from '../../operation-reader/protocol-names.ts';
import { operationName } from '../../refusals/operation-name.ts';
import type { TracedEnd } from '../../trace/socket-trace.ts';
import { createPendingBytes } from '../connection/pending-bytes.ts';
import type { PendingBytes } from '../connection/pending-bytes.ts';
import { createReadControl } from '../connection/read-control.ts';
import { STOPPED, closeFor, gatewayClose, tracedEnd, tracedRefusal } from '../protocol/close-codes.ts';
import type { SocketClose } from '../protocol/close-codes.ts';
import type { Message } from '../protocol/message.ts';
import type { OpenUpstream, Upstream, UpstreamCaller } from '../upstream/upstream-connector.ts';
import { UpstreamRefusal } from '../upstream/upstream-socket.ts';
import { OpenOperations, hasEnded, isAwaitedCall, isResumable, isUnanswered } from './open-operations.ts';
import type { Operation, OperationMetering } from './open-operations.ts';
import { CLOSED_BEFORE_ANSWER } from './operation-error.ts';
import { createSettleMessage } from './priced-message.ts';
import type { Pricing } from './priced-message.ts';
import { createUpstreamMessages } from './upstream-messages.ts';

export type OperationRules = {
  maxOperations: number;
  subscriptionsOnly: boolean;
  /** Of operations that wait for their admission or for the upstream; beyond them, the caller isn't read. */
  bufferMaxBytes: number;
  answerTimeoutMs: number;
  /** In total; 0 for no limit. */
  wholeTimeoutMs: number;
};

/** What operations take of the gateway, the same on all sockets. */
export type OperationServices = {
  rules: OperationRules;
  /** @throws {Problem} what the guards of the settings, or of the payer's plan, refuse */
  readOne: (payload: Record<string, unknown>, rules: CallRules | null) => ReadOperation;
  documentsOf: DocumentsOf;
  checkPrice: CheckPrice;
  /** What an operation costs for which the upstream states nothing; null for the default, always or of this one. */
  missingPoints: ((request: OperationRequest) => number | null) | null;
  estimateRate: Pick<EstimateRate, 'checkCall' | 'takeRefused'>;
  metering: OperationMetering & { settlementTimeout: SettlementTimeout; onCompared: OnCompared };
  pricing: Pricing;
  openUpstream: OpenUpstream;
  counts: {
    onOperations: (change: 1 | -1) => void;
    onPassedOn: (direction: 'to_caller' | 'to_upstream', bytes: number) => void;
  };
};

/** What operations take of their caller's socket. */
export type OperationsSocket = UpstreamCaller & {
  principal: Principal;
  send: (data: string | Buffer) => void;
  end: (close: SocketClose) => void;
  /** Closes it at a random moment, spread against other sockets that close for the same reason. */
  endSoon: (close: SocketClose) => void;
  /** A failure of the service (5xx), for the log. */
  onFailure: (problem: Problem) => void;
  /** For the record of refusals. */
  onRefused: (problem: Problem, operation: RefusedOperation) => void;
};

export type RefusedOperation = { name: string | null; isSent: boolean; openMs: number };

const NO_BATCH = 'The variables must be an object: over WebSocket there are no batches.';
const UPSTREAM_LINGER_MS = 10_000;

/** Carries out a caller's operations: what the caller, the upstream, time and admission bring to them. */
export class SocketOperations {
  readonly #services: OperationServices;
  readonly #socket: OperationsSocket;
  readonly #operations: OpenOperations;
  readonly #upstream: Upstream;
  readonly #pendingBytes: PendingBytes;
  /** Paused while the caller doesn't read, and while too much waits to be recorded. */
  readonly #reading = createReadControl(
    {
      pause: () => {
        this.#upstream.pause();
      },
      resume: () => {
        this.#upstream.resume();
      },
    },
    () => undefined,
  );
  #finished = false;

  constructor(services: OperationServices, socket: OperationsSocket) {
    const { metering, pricing, rules, counts } = services;
    this.#services = services;
    this.#socket = socket;
    this.#operations = new OpenOperations({
      metering,
      principal: socket.principal,
      onExhausted: this.#endSubscriptions.bind(this),
      onSlotLost: this.#lose.bind(this),
      onOperations: counts.onOperations,
    });
    this.#upstream = services.openUpstream(socket, {
      onMessage: createUpstreamMessages({
        operations: this.#operations,
        protocol: socket.protocol,
        pricing,
        settle: createSettleMessage(metering, socket.principal, this.#operations),
        pendingBytes: createPendingBytes(rules.bufferMaxBytes, this.#reading),
        pass: (bytes) => {
          socket.send(bytes);
          counts.onPassedOn('to_caller', bytes.length);
        },
        refuse: this.#lose.bind(this),
        end: (operation, end) => {
          this.#end([operation], end);
        },
        stop: this.#stop.bind(this),
      }),
      onLost: ({ close, wasReady }) => {
        this.#onUpstreamLost(close, wasReady);
      },
    });
    this.#pendingBytes = createPendingBytes(rules.bufferMaxBytes, socket.source);
  }

  get size(): number {
    return this.#operations.size;
  }

  hasCalls(): boolean {
    return this.#operations.all().some(isAwaitedCall);
  }

  refreshPayer(payer: PayerEntitlement): void {
    this.#operations.subscriptions.refreshPayer(payer);
  }

  tick(nowMs: number, idleMs: number): void {
    void this.#operations.subscriptions.settleWhenDue(nowMs);
    for (const operation of this.#overdue(nowMs)) {
      const cause = new Error('the upstream did not answer an operation in time');
      this.#refuse(operation, new Problem('upstream_timeout', { cause }));
    }
    if (idleMs > UPSTREAM_LINGER_MS) this.#upstream.close();
  }

  checkAlive(): void {
    this.#upstream.socket?.checkAlive();
  }

  stalledMs(nowMs: number): number {
    return this.#upstream.socket?.stalledMs(nowMs) ?? 0;
  }

  pause(): void {
    this.#reading.pause();
  }

  resume(): void {
    this.#reading.resume();
  }

  /** Ends the operations. Sent queries and mutations go on until answered, so that hanging up gains callers nothing. */
  finish(end: TracedEnd): void {
    if (this.#finished) return;
    this.#finished = true;
    for (const operation of this.#operations.all()) {
      if (operation.state === 'abandoned' || !isUnanswered(operation)) continue;
      // Without an error, a client would repeat it after reconnecting.
      this.#sendError(operation.id, CLOSED_BEFORE_ANSWER);
      this.#operations.abandon(operation);
    }
    const all = this.#operations.all();
    const over = all.filter(({ state }) => state !== 'abandoned');
    // Otherwise the connection is closed, which ends them.
    if (over.length < all.length) for (const operation of over) this.#stopAtUpstream(operation);
    this.#end(over, end);
    this.#upstream.resume();
    this.#leaveWhenDone();
    this.#operations.subscriptions.settleFinally();
  }

  giveUp(): void {
    if (this.#finished) this.#end(this.#operations.all(), STOPPED, true);
  }

  start(message: Message, bytes: number): void {
    const { id, payload: sent } = message;
    const { end, trace } = this.#socket;
    const { maxOperations, subscriptionsOnly } = this.#services.rules;
    if (id === undefined || !isObject(sent)) {
      const detail = 'An operation must have an id and a payload.';
      end(closeFor(new Problem('invalid_request', { detail })));
      return;
    }
    // The upstream gets what is read here, and nothing that it could read otherwise.
    const exact = withExactNames(sent);
    const read = this.#readOne(exact, message);
    const name = operationName(exact['operationName']);
    if (this.#operations.ofCaller(id) !== undefined) end(gatewayClose('duplicate_operation'));
    else if (this.#operations.size >= maxOperations) {
      const detail = 'Too many operations on one socket';
      this.#refuseUnopened(id, new Problem('too_many_requests', { detail }), name);
    } else if (read instanceof Problem) {
      this.#refuseUnopened(id, read, name);
    } else if (subscriptionsOnly && read.type !== 'subscription') {
      this.#refuseUnopened(id, new Problem('subscriptions_only'), name);
    } else {
      const { type, counted, payload } = read;
      const traced = trace?.operation(payload['operationName']) ?? null;
      // As over HTTP: of an unknown type, each result costs the default.
      const missing = type === 'unknown' ? null : this.#services.missingPoints;
      const estimatedPoints = missing?.(operationRequest(payload)) ?? null;
      const operation = this.#operations.open({ id, type, counted, name, trace: traced, estimatedPoints });
      this.#pendingBytes.add(bytes);
      void this.#send(operation, payload, message).finally(() => {
        this.#pendingBytes.remove(bytes);
      });
    }
  }

  /** With the text of the document that the payload names, if it is known. */
  #readOne(
    sent: Record<string, unknown>,
    message: Message,
  ): (ReadOperation & { payload: Record<string, unknown> }) | Problem {
    const { estimateRate, readOne, documentsOf } = this.#services;
    const { token, payer } = this.#operations.subscriptions.principal;
    try {
      estimateRate.checkCall(token.account_id);
      assertExact(message);
      if (Array.isArray(sent['variables'])) throw new Problem('invalid_request', { detail: NO_BATCH });
      const documents = documentsOf(payer);
      const payload = documents.withTexts(sent, payer.payerId).request as Record<string, unknown>;
      const operation = readOne(payload, payer.callRules);
      const untrusted = documents.whyUntrusted?.(operationRequest(payload)) ?? null;
      if (untrusted !== null) throw untrusted;
      return { ...operation, payload };
    } catch (error) {
      estimateRate.takeRefused(error, estimateCaller(token, payer));
      return toProblem(error);
    }
  }

  /** What an operation costs at most, if its payer's plan needs it. */
  async #pointsOf({ type }: Operation, payload: Record<string, unknown>): Promise<number> {
    const { token, payer } = this.#operations.subscriptions.principal;
    if (!needsPrice(payer)) return 0;
    try {
      return await this.#services.checkPrice(payer, { type, requests: [operationRequest(payload)] });
    } catch (error) {
      this.#services.estimateRate.takeRefused(error, estimateCaller(token, payer));
      throw error;
    }
  }

  stop(id: string | undefined): void {
    const operation = id === undefined ? undefined : this.#operations.ofCaller(id);
    if (operation === undefined) return;
    if (isUnanswered(operation)) {
      // The upstream isn't told, because it might omit the price of what it has done.
      this.#operations.abandon(operation);
      this.#freeId(operation);
    } else this.#stop(operation);
  }

  async #send(operation: Operation, payload: Record<string, unknown>, sent: Message): Promise<void> {
    try {
      const points = await this.#pointsOf(operation, payload);
      if (hasEnded(operation)) return;
      operation.trace?.begin('admit');
      if (!(await this.#operations.admit(operation, points))) return;
      operation.trace?.begin('forward');
      const { principal } = this.#operations.subscriptions;
      const upstream = await this.#upstream.connected(principal, () => !hasEnded(operation));
      if (hasEnded(operation)) return;
      const id = upstream.ids.take(operation.id);
      const message = `{"id":${JSON.stringify(id)},"type":"${this.#socket.protocol.start}","payload":${written(payload, sent)}}`;
      upstream.send(message);
      this.#operations.sent(operation, id);
      this.#services.counts.onPassedOn('to_upstream', Buffer.byteLength(message));
    } catch (error) {
      if (!hasEnded(operation)) this.#onUnsent(operation, error);
    }
  }

  /**
   * If the upstream is away, or a subscription can't be admitted now, closes the socket so that clients retry: an error
   * would end a subscription for good. Nothing on the socket was sent to the upstream.
   */
  #onUnsent(operation: Operation, error: unknown): void {
    const problem = toProblem(error);
    const isAway = problem.code === 'upstream_unreachable' || problem.code === 'upstream_timeout';
    const isPostponed =
      problem.code === 'service_unavailable' &&
      operation.type === 'subscription' &&
      this.#operations.underWay().length === 0;
    if (!(isAway || isPostponed) || error instanceof UpstreamRefusal) {
      this.#refuse(operation, problem);
      return;
    }
    this.#socket.onFailure(problem);
    this.#end(this.#opening(), tracedRefusal(problem), true);
    this.#socket.endSoon(closeFor(problem));
  }

  #onUpstreamLost(close: SocketClose, wasReady: boolean): void {
    const isOwnCode = close.closeCode >= 4000;
    const lost = this.#operations.underWay();
    // If it was never ready, operations get the rejection of `connected`.
    if (!isOwnCode && (!wasReady || lost.length === 0)) return;
    const problem = new Problem('upstream_unreachable', { cause: new Error(close.reason) });
    for (const operation of lost) {
      // It may have been carried out, so a client must not repeat it by itself after reconnecting.
      if (operation.state === 'abandoned' || isResumable(operation)) continue;
      this.#sendError(operation.id, problem);
      this.#recordRefusal(problem, operation);
    }
    const isOver = isOwnCode || lost.some(isResumable);
    this.#end(isOver ? [...lost, ...this.#opening()] : lost, tracedEnd(close), true);
    if (!isOver) return;
    if (isOwnCode) this.#socket.end(close);
    else this.#socket.endSoon(close);
  }

  #opening(): Operation[] {
    return this.#operations.all().filter(({ state }) => state === 'opening');
  }

  /** Queries and mutations past their timeout; persisted operations have none, as they may be subscriptions. */
  #overdue(nowMs: number): Operation[] {
    // The result may be in what hasn't been read yet.
    if (this.#upstream.isPaused()) return [];
    const { answerTimeoutMs, wholeTimeoutMs } = this.#services.rules;
    const resumedMs = this.#upstream.resumedMs();
    return this.#operations.underWay().filter((operation) => {
      const { type, state, sentMs } = operation;
      if (type === 'subscription' || (type === 'unknown' && state !== 'abandoned')) return false;
      const timeMs = nowMs - Math.max(sentMs, resumedMs);
      return isUnanswered(operation)
        ? timeMs > answerTimeoutMs
        : wholeTimeoutMs > 0 && timeMs > wholeTimeoutMs;
    });
  }

  /** A limit of the period is used up. Queries and mutations in flight were admitted, and get their results. */
  #endSubscriptions(problem: Problem): void {
    const concerned = this.#operations.all().filter(isResumable);
    if (this.hasCalls()) {
      for (const operation of concerned) this.#refuse(operation, problem);
      return;
    }
    for (const { id } of concerned) this.#sendError(id, problem);
    this.#socket.end(closeFor(problem));
  }

  #stop(operation: Operation): void {
    this.#stopAtUpstream(operation);
    this.#end([operation], STOPPED);
  }

  #refuse(operation: Operation, problem: Problem): void {
    if (problem.status >= 500) this.#socket.onFailure(problem);
    this.#recordRefusal(problem, operation);
    this.#stopAtUpstream(operation);
    if (operation.state !== 'abandoned') this.#sendError(operation.id, problem);
    this.#end([operation], tracedRefusal(problem), true);
  }

  /** An error is final to clients, so a subscription that could go on later ends with the socket. */
  #lose(operation: Operation, problem: Problem): void {
    if (operation.call !== null || problem.status < 500 || this.hasCalls()) {
      this.#refuse(operation, problem);
      return;
    }
    this.#socket.onFailure(problem);
    this.#stopAtUpstream(operation);
    this.#end([operation], tracedRefusal(problem), true);
    this.#socket.endSoon(closeFor(problem));
  }

  #refuseUnopened(id: string, problem: Problem, name: string | null): void {
    this.#sendError(id, problem);
    this.#socket.onRefused(problem, { name, isSent: false, openMs: 0 });
  }

  #recordRefusal(problem: Problem, { name, upstreamId, startedMs }: Operation): void {
    this.#socket.onRefused(problem, {
      name,
      isSent: upstreamId !== null,
      openMs: performance.now() - startedMs,
    });
  }

  #stopAtUpstream(operation: Operation): void {
    const { upstreamId } = operation;
    if (upstreamId === null || this.#operations.ofUpstream(upstreamId) !== operation) return;
    this.#freeId(operation);
    const stop: Message = { id: upstreamId, type: this.#socket.protocol.stop };
    this.#upstream.socket?.send(JSON.stringify(stop));
  }

  /** Lets the caller reuse the id, without telling the upstream. */
  #freeId({ upstreamId }: Operation): void {
    if (upstreamId !== null) this.#upstream.socket?.ids.stopped(upstreamId);
  }

  #end(operations: readonly Operation[], end: TracedEnd, isBrokenOff = false): void {
    this.#operations.end(operations, end, isBrokenOff);
    this.#leaveWhenDone();
  }

  #leaveWhenDone(): void {
    if (this.#finished && this.#operations.size === 0) this.#upstream.close();
  }

  #sendError(id: string, problem: Problem): void {
    const { protocol, requestId, send } = this.#socket;
    const payload = protocol.errorPayload(graphqlError(problem, requestId));
    send(JSON.stringify({ id, type: 'error', payload }));
  }
}

/** The members of a short payload are written anew, those of a long one as they came. @throws {Problem} invalid_request */
function assertExact({ payloadText }: Message): void {
  const variables = payloadText === undefined ? undefined : memberTexts(payloadText).get('variables');
  if (variables !== undefined) assertExactVariables(variables);
}

/** The JSON of a payload that was read. */
function written(payload: Record<string, unknown>, { payload: sent, payloadText }: Message): string {
  if (payloadText === undefined || !isObject(sent)) return JSON.stringify(payload);
  // Of two hashes in extensions, a server could read the other.
  const { extensions: _, ...asWritten } = sent;
  return rewritten(payloadText, asWritten, payload);
}
