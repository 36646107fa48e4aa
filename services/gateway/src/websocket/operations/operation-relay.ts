import { Problem, toProblem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../../entitle/entitle.ts';
import type { Principal } from '../../metering/principal.ts';
import type { TracedEnd } from '../../trace/socket-trace.ts';
import { STOPPED, closeFor, gatewayClose, tracedEnd, tracedRefusal } from '../protocol/close-codes.ts';
import type { SocketClose } from '../protocol/close-codes.ts';
import { isObject } from '../../operation-reader/json.ts';
import type { Message } from '../protocol/message.ts';
import { graphqlError } from '../../http/graphql-error.ts';
import { CLOSED_BEFORE_ANSWER } from './operation-error.ts';
import { hasEnded, isAwaitedCall, isUnanswered, mayBeSubscription } from './operation.ts';
import type { OperationType } from '../../operation-reader/document-types.ts';
import type { Operation } from './operation.ts';
import { Operations } from './operations.ts';
import { createMessageRelay } from './relay-message.ts';
import type { RelayMessage } from './relay-message.ts';
import type { OperationRelayOptions, RelayedSocket } from './relay-options.ts';
import { withExactNames } from '../../operation-reader/protocol-names.ts';
import { operationName } from '../../refused-calls/operation-name.ts';
import { refusalOfOperation } from '../refusals.ts';
import { SentOperations } from './sent-operations.ts';
import { UpstreamRefusal } from '../upstream/upstream-socket.ts';
import { UpstreamConnector } from '../upstream/upstream-connector.ts';
import { createPendingBytes } from '../connection/pending-bytes.ts';
import type { PendingBytes } from '../connection/pending-bytes.ts';

const UPSTREAM_LINGER_MS = 10_000;

export class OperationRelay {
  readonly #options: OperationRelayOptions;
  readonly #socket: RelayedSocket;
  readonly #operations: Operations;
  readonly #relayMessage: RelayMessage;
  readonly #upstream: UpstreamConnector;
  readonly #sent: SentOperations;
  readonly #pendingBytes: PendingBytes;
  #finished = false;

  constructor(options: OperationRelayOptions, socket: RelayedSocket) {
    const { settleIntervalMs, pointsPerMinute, upstream, bufferMaxBytes } = options.settings;
    this.#options = options;
    this.#socket = socket;
    this.#operations = new Operations({
      ...options,
      principal: socket.principal,
      settleIntervalMs,
      pointsPerMinute,
      onExhausted: (problem) => {
        this.#endSubscriptions(problem);
      },
      onRefused: (operation, problem) => {
        this.#refuse(operation, problem);
      },
    });
    this.#upstream = new UpstreamConnector({
      ...socket,
      settings: upstream,
      chooseAddress: options.chooseAddress,
      onMessage: (message, bytes) => {
        this.#relayMessage(message, bytes);
      },
      onLost: ({ close, wasReady }) => {
        this.#onUpstreamLost(close, wasReady);
      },
    });
    this.#sent = new SentOperations(this.#upstream, socket.protocol, options.settings);
    this.#relayMessage = createMessageRelay(options, socket, {
      subscriptions: this.#operations.subscriptions,
      sent: this.#sent,
      end: (operation, end) => {
        this.#end([operation], end);
      },
      refuse: (operation, problem) => {
        this.#refuse(operation, problem);
      },
    });
    this.#pendingBytes = createPendingBytes(bufferMaxBytes, socket.caller);
  }

  get #principal(): Principal {
    return this.#operations.subscriptions.principal;
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
    for (const operation of this.#sent.overdue(nowMs)) {
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
    this.#upstream.pause();
  }

  resume(): void {
    this.#upstream.resume();
  }

  /** Ends the operations. Sent queries and mutations go on until answered, so that hanging up gains callers nothing. */
  finish(end: TracedEnd): void {
    if (this.#finished) return;
    this.#finished = true;
    const unanswered = this.#operations.all().filter(isUnanswered);
    for (const operation of unanswered) {
      // Without an error, a client would repeat it after reconnecting.
      if (!operation.abandoned) this.#sendError(operation.id, CLOSED_BEFORE_ANSWER);
      this.#operations.abandon(operation);
    }
    const over = this.#operations.all().filter((operation) => !operation.abandoned);
    if (unanswered.length > 0) for (const operation of over) this.#sent.stop(operation);
    this.#end(over, end);
    this.#upstream.resume();
    this.#leaveWhenDone();
    this.#operations.subscriptions.settleFinally();
  }

  giveUp(): void {
    if (this.#finished) this.#end(this.#operations.all(), STOPPED, true);
  }

  start({ id, payload: sent }: Message, bytes: number): void {
    const { end, trace } = this.#socket;
    const { maxOperations, subscriptionsOnly } = this.#options.settings;
    if (id === undefined || !isObject(sent)) {
      const detail = 'An operation must have an id and a payload.';
      end(closeFor(new Problem('invalid_request', { detail })));
      return;
    }
    // The upstream gets what is read here, and nothing that it could read otherwise.
    const payload = withExactNames(sent);
    const type = this.#typeOf(payload);
    const name = operationName(payload['operationName']);
    if (this.#operations.get(id) !== undefined) end(gatewayClose('duplicate_operation'));
    else if (this.#operations.size >= maxOperations) {
      const detail = 'Too many operations on one socket';
      this.#refuseUnopened(id, new Problem('too_many_requests', { detail }), name);
    } else if (type instanceof Problem) {
      this.#refuseUnopened(id, type, name);
    } else if (subscriptionsOnly && type !== 'subscription') {
      this.#refuseUnopened(id, new Problem('subscriptions_only'), name);
    } else {
      const traced = trace?.operation(payload['operationName']) ?? null;
      const operation = this.#operations.add({ id, type, name, trace: traced });
      this.#options.onOperations(1);
      this.#pendingBytes.add(bytes);
      void this.#open(operation, payload).finally(() => {
        this.#pendingBytes.remove(bytes);
      });
    }
  }

  #typeOf(payload: Record<string, unknown>): OperationType | Problem {
    try {
      return this.#options.reader.typeOf(payload);
    } catch (error) {
      return toProblem(error);
    }
  }

  stop(id: string | undefined): void {
    const operation = id === undefined ? undefined : this.#operations.get(id);
    if (operation === undefined) return;
    if (isUnanswered(operation)) {
      // The upstream isn't told, because it might omit the price of what it has done.
      this.#operations.abandon(operation);
      this.#sent.freeId(operation);
    } else {
      this.#sent.stop(operation);
      this.#end([operation], STOPPED);
    }
  }

  async #open(operation: Operation, payload: unknown): Promise<void> {
    try {
      operation.trace?.begin('admit');
      if (!(await this.#operations.admit(operation))) return;
      operation.trace?.begin('forward');
      const upstream = await this.#upstream.connected(this.#principal, () => !hasEnded(operation));
      if (hasEnded(operation)) return;
      const bytes = this.#sent.send(operation, upstream, payload);
      this.#operations.begin(operation);
      this.#options.onRelayed('to_upstream', bytes);
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
      this.#sent.all().length === 0;
    if (!(isAway || isPostponed) || error instanceof UpstreamRefusal) {
      this.#refuse(operation, problem);
      return;
    }
    this.#options.onFailure(this.#socket.requestId, problem, this.#socket.facts.clientAddress);
    this.#end(this.#unsent(), tracedRefusal(problem), true);
    this.#socket.endSoon(closeFor(problem));
  }

  #onUpstreamLost(close: SocketClose, wasReady: boolean): void {
    const isOwnCode = close.closeCode >= 4000;
    const lost = this.#sent.all();
    // If it was never ready, operations get the rejection of `connected`.
    if (!isOwnCode && (!wasReady || lost.length === 0)) return;
    const problem = new Problem('upstream_unreachable', { cause: new Error(close.reason) });
    const isResumed = (one: Operation) => mayBeSubscription(one) && !isUnanswered(one);
    for (const operation of lost) {
      // It may have been carried out, so a client must not repeat it by itself after reconnecting.
      if (operation.abandoned || isResumed(operation)) continue;
      this.#sendError(operation.id, problem);
      this.#recordRefusal(problem, operation);
    }
    const isOver = isOwnCode || lost.some(isResumed);
    this.#end(isOver ? [...lost, ...this.#unsent()] : lost, tracedEnd(close), true);
    if (!isOver) return;
    if (isOwnCode) this.#socket.end(close);
    else this.#socket.endSoon(close);
  }

  #unsent(): Operation[] {
    return this.#operations.all().filter(({ upstreamId }) => upstreamId === null);
  }

  /** A limit of the period is used up. Queries and mutations in flight were admitted, and get their results. */
  #endSubscriptions(problem: Problem): void {
    const concerned = this.#operations.all().filter((one) => mayBeSubscription(one) && !isUnanswered(one));
    if (this.hasCalls()) {
      for (const operation of concerned) this.#refuse(operation, problem);
      return;
    }
    for (const { id } of concerned) this.#sendError(id, problem);
    this.#socket.end(closeFor(problem));
  }

  #refuse(operation: Operation, problem: Problem): void {
    const { requestId, facts } = this.#socket;
    if (problem.status >= 500) this.#options.onFailure(requestId, problem, facts.clientAddress);
    this.#recordRefusal(problem, operation);
    this.#sent.stop(operation);
    if (!operation.abandoned) this.#sendError(operation.id, problem);
    this.#end([operation], tracedRefusal(problem), true);
  }

  #refuseUnopened(id: string, problem: Problem, name: string | null): void {
    this.#sendError(id, problem);
    this.#recordRefusal(problem, { name, upstreamId: null, startedMs: performance.now() });
  }

  #recordRefusal(
    problem: Problem,
    { name, upstreamId, startedMs }: Pick<Operation, 'name' | 'upstreamId' | 'startedMs'>,
  ): void {
    const { requestId, facts } = this.#socket;
    const socket = { requestId, clientAddress: facts.clientAddress, principal: this.#principal };
    const operation = { name, isSent: upstreamId !== null, openMs: performance.now() - startedMs };
    this.#options.recordRefusal(refusalOfOperation(socket, problem, operation));
  }

  #end(operations: readonly Operation[], end: TracedEnd, byUpstream = false): void {
    const open = operations.filter(({ ended }) => !ended);
    this.#operations.end(open, byUpstream);
    for (const operation of open) {
      this.#sent.remove(operation);
      operation.trace?.end(end);
      this.#options.onOperations(-1);
    }
    this.#leaveWhenDone();
  }

  #leaveWhenDone(): void {
    if (this.#finished && this.#operations.size === 0) this.#upstream.close();
  }

  #sendError(id: string, problem: Problem): void {
    const { protocol, requestId, toCaller } = this.#socket;
    const payload = protocol.errorPayload(graphqlError(problem, requestId));
    toCaller.send(JSON.stringify({ id, type: 'error', payload }));
  }
}
