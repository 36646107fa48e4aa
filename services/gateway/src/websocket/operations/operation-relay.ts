import { Problem, toProblem } from '@tollgate/http/problem';
import type { TracedEnd } from '../../trace/socket-trace.ts';
import { STOPPED, endingOf, socketEnding, tracedEnd, tracedRefusal } from '../ending.ts';
import type { Ending } from '../ending.ts';
import type { Identity } from '../caller/identify.ts';
import { isObject } from '../message.ts';
import type { Message } from '../message.ts';
import { CLOSED_BEFORE_ANSWER, operationError } from './operation-error.ts';
import { operationType } from './operation-type.ts';
import { hasEnded, isAwaitedCall, isUnanswered, mayBeSubscription } from './operation.ts';
import type { Operation } from './operation.ts';
import { Operations } from './operations.ts';
import { createPassAnswer } from './pass-answer.ts';
import type { PassAnswer } from './pass-answer.ts';
import type { OperationRelayParts, RelayedSocket } from './relay-parts.ts';
import { refusalOfOperation } from '../caller/refusals.ts';
import { SentOperations } from './sent-operations.ts';
import { UpstreamRefusal } from '../upstream/upstream-link.ts';
import { UpstreamSide } from '../upstream/upstream-side.ts';
import { createWaitingBytes } from './waiting-bytes.ts';
import type { WaitingBytes } from './waiting-bytes.ts';

/** An upstream connection without operations is given up after this; the next operation opens another one. */
const UPSTREAM_LINGER_MS = 10_000;

/** The operations of one acknowledged socket, and their way to the upstream and back. */
export class OperationRelay {
  readonly #parts: OperationRelayParts;
  readonly #socket: RelayedSocket;
  readonly #operations: Operations;
  readonly #passOn: PassAnswer;
  readonly #upstream: UpstreamSide;
  readonly #sent: SentOperations;
  readonly #waiting: WaitingBytes;
  #identity: Identity;
  #finished = false;

  constructor(parts: OperationRelayParts, socket: RelayedSocket) {
    const { settleIntervalMs, pointsPerMinute, upstream, bufferMaxBytes } = parts.settings;
    const { active, payer } = socket.identity;
    this.#parts = parts;
    this.#socket = socket;
    this.#identity = socket.identity;
    this.#operations = new Operations({
      ...parts,
      token: active,
      payer,
      settleIntervalMs,
      pointsPerMinute,
      onExhausted: (problem) => {
        this.#endSubscriptions(problem);
      },
      onRefused: (operation, problem) => {
        this.#refuse(operation, problem);
      },
    });
    this.#upstream = new UpstreamSide({
      ...socket,
      settings: upstream,
      visit: parts.visitUpstream,
      onMessage: (message, bytes) => {
        this.#passOn(message, bytes);
      },
      onLost: ({ ending, wasReady }) => {
        this.#onUpstreamLost(ending, wasReady);
      },
    });
    this.#sent = new SentOperations(this.#upstream, socket.protocol, parts.settings);
    this.#passOn = createPassAnswer(parts, socket, {
      operations: this.#operations,
      sent: this.#sent,
      end: (operation, end) => {
        this.#end([operation], end);
      },
      refuse: (operation, problem) => {
        this.#refuse(operation, problem);
      },
    });
    this.#waiting = createWaitingBytes(bufferMaxBytes, socket.caller);
  }

  get size(): number {
    return this.#operations.size;
  }

  /** Whether the caller waits for answers to queries or mutations that were sent. */
  hasCalls(): boolean {
    return this.#operations.all().some(isAwaitedCall);
  }

  refreshPayer(identity: Identity): void {
    this.#identity = identity;
    this.#operations.refreshPayer(identity.payer);
  }

  tick(nowMs: number, idleMs: number): void {
    this.#operations.settleWhenDue(nowMs);
    for (const operation of this.#sent.overdue(nowMs)) {
      const cause = new Error('the upstream did not answer an operation in time');
      this.#refuse(operation, new Problem('upstream_timeout', { cause }));
    }
    if (idleMs > UPSTREAM_LINGER_MS) this.#upstream.close();
  }

  checkAlive(): void {
    this.#upstream.link?.checkAlive();
  }

  stalledMs(nowMs: number): number {
    return this.#upstream.link?.stalledMs(nowMs) ?? 0;
  }

  /** The caller doesn't read: neither is the upstream read. */
  pause(): void {
    this.#upstream.pause();
  }

  resume(): void {
    this.#upstream.resume();
  }

  /**
   * Ends the operations as their socket ends, and settles. What was sent and may be a query or mutation goes on until
   * it is answered, and the upstream is left then: its caller gains nothing by hanging up.
   */
  finish(end: TracedEnd): void {
    if (this.#finished) return;
    this.#finished = true;
    const unanswered = this.#operations.all().filter(isUnanswered);
    for (const operation of unanswered) {
      // A client that connects again would else carry it out once more.
      if (!operation.abandoned) this.#sendError(operation.id, CLOSED_BEFORE_ANSWER);
      this.#operations.abandon(operation);
    }
    const over = this.#operations.all().filter((operation) => !operation.abandoned);
    if (unanswered.length > 0) for (const operation of over) this.#sent.stop(operation);
    this.#end(over, end);
    this.#upstream.resume();
    this.#leaveWhenDone();
    this.#operations.settleFinally();
  }

  /** Ends what has no caller anymore and is still waited for; it costs nothing. */
  giveUp(): void {
    if (this.#finished) this.#end(this.#operations.all(), STOPPED, true);
  }

  /** A caller's `subscribe` or `start`, and how many bytes it came as. */
  start({ id, payload }: Message, bytes: number): void {
    const { end, trace } = this.#socket;
    const { maxOperations, subscriptionsOnly } = this.#parts.settings;
    if (id === undefined || !isObject(payload)) {
      const detail = 'An operation must have an id and a payload.';
      end(endingOf(new Problem('invalid_request', { detail })));
      return;
    }
    const type = operationType(payload);
    if (this.#operations.get(id) !== undefined) end(socketEnding('duplicate_operation'));
    else if (this.#operations.size >= maxOperations) {
      this.#refuseUnbegun(
        id,
        new Problem('too_many_requests', { detail: 'Too many operations on one socket' }),
      );
    } else if (subscriptionsOnly && type !== 'subscription') {
      this.#refuseUnbegun(id, new Problem('subscriptions_only'));
    } else {
      const traced = trace?.operation(payload['operationName']) ?? null;
      const operation = this.#operations.add(id, type, traced);
      this.#parts.onOperations(1);
      this.#waiting.add(bytes);
      void this.#open(operation, payload).finally(() => {
        this.#waiting.remove(bytes);
      });
    }
  }

  /** A caller's `complete` or `stop`; of what has ended already it says nothing new. */
  stop(id: string | undefined): void {
    const operation = id === undefined ? undefined : this.#operations.get(id);
    if (operation === undefined) return;
    if (isUnanswered(operation)) {
      // The upstream isn't told: it could leave out the price of what it has done already.
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
      const link = await this.#upstream.ready(this.#identity, () => !hasEnded(operation));
      if (hasEnded(operation)) return;
      const bytes = this.#sent.send(operation, link, payload);
      this.#operations.begin(operation);
      this.#parts.onRelayed('to_upstream', bytes);
    } catch (error) {
      if (!hasEnded(operation)) this.#onUnsent(operation, error);
    }
  }

  /**
   * Where the upstream is away the socket ends, so that clients come back and start its operations again: nothing
   * was sent, and a subscription that is answered with an error would be over for good.
   */
  #onUnsent(operation: Operation, error: unknown): void {
    const problem = toProblem(error);
    const isAway = problem.code === 'upstream_unreachable' || problem.code === 'upstream_timeout';
    if (!isAway || error instanceof UpstreamRefusal) {
      this.#refuse(operation, problem);
      return;
    }
    this.#parts.onFailure(this.#socket.requestId, problem, this.#socket.facts.clientAddress);
    this.#end(this.#unsent(), tracedRefusal(problem), true);
    this.#socket.endSoon(endingOf(problem));
  }

  #onUpstreamLost(ending: Ending, wasReady: boolean): void {
    const isOwnWord = ending.closeCode >= 4000;
    const lost = this.#sent.all();
    // Where it was never ready those that wait for it are told by that.
    if (!isOwnWord && (!wasReady || lost.length === 0)) return;
    const problem = new Problem('upstream_unreachable', { cause: new Error(ending.reason) });
    const isResumed = (one: Operation) => mayBeSubscription(one) && !isUnanswered(one);
    for (const operation of lost) {
      // It may have been carried out: a client that connects again must not start it again by itself.
      if (operation.abandoned || isResumed(operation)) continue;
      this.#sendError(operation.id, problem);
      this.#recordRefusal(problem, performance.now() - operation.startedMs);
    }
    const isOver = isOwnWord || lost.some(isResumed);
    this.#end(isOver ? [...lost, ...this.#unsent()] : lost, tracedEnd(ending), true);
    if (!isOver) return;
    if (isOwnWord) this.#socket.end(ending);
    else this.#socket.endSoon(ending);
  }

  /** Operations that wait for their admission or for the upstream. */
  #unsent(): Operation[] {
    return this.#operations.all().filter(({ upstreamId }) => upstreamId === null);
  }

  /** A limit of the period is used up. Queries and mutations in flight were admitted, and get their answers. */
  #endSubscriptions(problem: Problem): void {
    const concerned = this.#operations.all().filter((one) => mayBeSubscription(one) && !isUnanswered(one));
    if (this.hasCalls()) {
      for (const operation of concerned) this.#refuse(operation, problem);
      return;
    }
    for (const { id } of concerned) this.#sendError(id, problem);
    this.#socket.end(endingOf(problem));
  }

  #refuse(operation: Operation, problem: Problem): void {
    const { requestId, facts } = this.#socket;
    if (problem.status >= 500) this.#parts.onFailure(requestId, problem, facts.clientAddress);
    this.#recordRefusal(problem, performance.now() - operation.startedMs);
    this.#sent.stop(operation);
    if (!operation.abandoned) this.#sendError(operation.id, problem);
    this.#end([operation], tracedRefusal(problem), true);
  }

  /** An operation that isn't begun. */
  #refuseUnbegun(id: string, problem: Problem): void {
    this.#sendError(id, problem);
    this.#recordRefusal(problem, 0);
  }

  #recordRefusal(problem: Problem, openMs: number): void {
    const { requestId, facts } = this.#socket;
    const socket = { requestId, clientAddress: facts.clientAddress, identity: this.#identity };
    this.#parts.recordRefusal(refusalOfOperation(socket, problem, openMs));
  }

  #end(operations: readonly Operation[], end: TracedEnd, byUpstream = false): void {
    const open = operations.filter(({ ended }) => !ended);
    this.#operations.end(open, byUpstream);
    for (const operation of open) {
      this.#sent.remove(operation);
      operation.trace?.end(end);
      this.#parts.onOperations(-1);
    }
    this.#leaveWhenDone();
  }

  #leaveWhenDone(): void {
    if (this.#finished && this.#operations.size === 0) this.#upstream.close();
  }

  #sendError(id: string, problem: Problem): void {
    const { protocol, requestId, toCaller } = this.#socket;
    const payload = protocol.errorPayload(operationError(problem, requestId));
    toCaller.send(JSON.stringify({ id, type: 'error', payload }));
  }
}
