import { Problem, toProblem } from '@tollgate/problem';
import type { LogFailure } from '../data-call/failure-log.ts';
import type { RecordRefusal } from '../refused-calls/refused-calls.ts';
import type { TracedEnd } from '../trace/socket-trace.ts';
import { endingOf, socketEnding, tracedEnd, tracedRefusal } from './ending.ts';
import type { Ending } from './ending.ts';
import type { Identity } from './identify.ts';
import { isObject, parseKeepingDigits } from './message.ts';
import type { Message } from './message.ts';
import { operationError } from './operation-error.ts';
import { Operations } from './operations.ts';
import type { Operation, OperationsOptions } from './operations.ts';
import type { Outlet } from './outlet.ts';
import { refusalOfOperation } from './refusals.ts';
import type { VisitUpstream } from './upstream-addresses.ts';
import type { UpstreamSettings } from './upstream-link.ts';
import { UpstreamSide } from './upstream-side.ts';
import type { UpstreamSideOptions } from './upstream-side.ts';
import { createWaitingBytes } from './waiting-bytes.ts';
import type { WaitingBytes } from './waiting-bytes.ts';

export type OperationRelaySettings = {
  bufferMaxBytes: number;
  maxOperations: number;
  settleIntervalMs: number;
  pointsPerMinute: number;
  upstream: UpstreamSettings;
};

export type OperationRelayParts = Pick<OperationsOptions, 'admit' | 'record' | 'prime'> & {
  settings: OperationRelaySettings;
  visitUpstream: VisitUpstream;
  /** Told of each message that is passed on. */
  onRelayed: (direction: 'to_caller' | 'to_upstream', bytes: number) => void;
  /** Told of operations that open (1) and end (-1). */
  onOperations: (change: 1 | -1) => void;
  /** Told of what failed on this side. */
  onFailure: LogFailure;
  /** Told of each operation, and each socket, that was refused or has failed. */
  recordRefusal: RecordRefusal;
};

/** One caller's socket, as far as its operations need it. */
export type RelayedSocket = Pick<
  UpstreamSideOptions,
  'protocol' | 'facts' | 'requestId' | 'trace' | 'initPayload' | 'caller'
> & {
  identity: Identity;
  toCaller: Pick<Outlet, 'send'>;
  end: (ending: Ending) => void;
};

/** An upstream connection without operations is given up after this; the next operation opens another one. */
const UPSTREAM_LINGER_MS = 10_000;

/** What the upstream says of an error isn't read: like a call's, its errors may be its caller's fault. */
const ERRORED: TracedEnd = { outcome: 'errored', failed: false };
const COMPLETED: TracedEnd = { outcome: 'completed', failed: false };
const STOPPED: TracedEnd = { outcome: 'stopped', failed: false };

/** The operations of one acknowledged socket, and their way to the upstream and back. */
export class OperationRelay {
  readonly #parts: OperationRelayParts;
  readonly #socket: RelayedSocket;
  readonly #operations: Operations;
  #identity: Identity;
  /** Those that the upstream has been sent, by the ids that it knows them by. */
  readonly #atUpstream = new Map<string, Operation>();
  readonly #upstream: UpstreamSide;
  readonly #waiting: WaitingBytes;
  #finished = false;

  constructor(parts: OperationRelayParts, socket: RelayedSocket) {
    const { settleIntervalMs, pointsPerMinute } = parts.settings;
    const { active, charge } = socket.identity;
    this.#parts = parts;
    this.#socket = socket;
    this.#identity = socket.identity;
    this.#operations = new Operations({
      ...parts,
      token: active,
      charge,
      settleIntervalMs,
      pointsPerMinute,
      onExhausted: (problem) => {
        for (const { id } of this.#operations.all()) this.#sendError(id, problem);
        socket.end(endingOf(problem));
      },
      onRefused: (operation, problem) => {
        this.#refuse(operation, problem);
      },
    });
    this.#upstream = new UpstreamSide({
      ...socket,
      settings: parts.settings.upstream,
      visit: parts.visitUpstream,
      onMessage: (type, id, bytes) => {
        this.#receive(type, id, bytes);
      },
      onLost: ({ ending, wasReady }) => {
        this.#onUpstreamLost(ending, wasReady);
      },
    });
    this.#waiting = createWaitingBytes(parts.settings.bufferMaxBytes, socket.caller);
  }

  get size(): number {
    return this.#operations.size;
  }

  recharge(identity: Identity): void {
    this.#identity = identity;
    this.#operations.recharge(identity.charge);
  }

  tick(nowMs: number, idleMs: number): void {
    this.#operations.settleWhenDue(nowMs);
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

  /** Ends all operations as their socket ends, settles, and leaves the upstream. */
  finish(end: TracedEnd): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#upstream.close();
    this.#end(this.#operations.all(), end);
    this.#operations.settleFinally();
  }

  /** A caller's `subscribe` or `start`, and how many bytes it came as. */
  start({ id, payload }: Message, bytes: number): void {
    const { protocol, end } = this.#socket;
    if (id === undefined || !isObject(payload)) {
      const detail = 'An operation must have an id and a payload.';
      end(endingOf(new Problem('invalid_request', { detail })));
    } else if (this.#operations.get(id) !== undefined) end(socketEnding('duplicate_operation'));
    else if (this.#operations.size >= this.#parts.settings.maxOperations) {
      const problem = new Problem('too_many_requests', { detail: 'Too many operations on one socket' });
      this.#sendError(id, problem);
      this.#recordRefusal(problem, 0);
    } else {
      const trace = this.#socket.trace?.operation(payload['operationName']) ?? null;
      const operation = this.#operations.add(id, trace);
      this.#parts.onOperations(1);
      this.#waiting.add(bytes);
      void this.#open(operation, { type: protocol.start, payload }).finally(() => {
        this.#waiting.remove(bytes);
      });
    }
  }

  /** A caller's `complete` or `stop`; of what has ended already it says nothing new. */
  stop(id: string | undefined): void {
    const operation = id === undefined ? undefined : this.#operations.get(id);
    if (operation === undefined) return;
    this.#stopAtUpstream(operation);
    this.#end([operation], STOPPED);
  }

  async #open(operation: Operation, start: Message): Promise<void> {
    try {
      operation.trace?.begin('admit');
      if (!(await this.#operations.takePlace(operation))) return;
      operation.trace?.begin('forward');
      const link = await this.#upstream.ready(this.#identity, () => !hasEnded(operation));
      if (hasEnded(operation)) return;
      const id = link.ids.take(operation.id);
      operation.upstreamId = id;
      this.#atUpstream.set(id, operation);
      this.#operations.begin(operation);
      const message = JSON.stringify({ id, ...start });
      link.send(message);
      this.#parts.onRelayed('to_upstream', Buffer.byteLength(message));
    } catch (error) {
      if (!hasEnded(operation)) this.#refuse(operation, toProblem(error));
    }
  }

  #receive(type: string, id: string, bytes: Buffer): void {
    const { protocol, toCaller } = this.#socket;
    const operation = this.#atUpstream.get(id);
    // What the caller has ended already; it isn't charged for what was still on its way.
    if (operation === undefined) return;
    const isLast = type === 'complete' || type === 'error';
    if (!isLast && type !== protocol.result) return;
    operation.answered = true;
    const message = operation.id === id ? bytes : withId(bytes, operation.id);
    if (message === null) {
      this.#refuse(operation, new Problem('upstream_unreachable', { cause: new Error('nested too deep') }));
      return;
    }
    toCaller.send(message);
    this.#operations.countTraffic(message.length);
    this.#parts.onRelayed('to_caller', message.length);
    if (isLast) this.#end([operation], type === 'complete' ? COMPLETED : ERRORED);
  }

  #onUpstreamLost(ending: Ending, wasReady: boolean): void {
    if (this.#finished) return;
    // Operations that wait for their admission get a connection of their own. Where it was never ready each is
    // told; what it says in its own codes it says to the caller.
    if (wasReady ? this.#atUpstream.size === 0 : ending.closeCode < 4000) return;
    this.#end(this.#operations.all(), tracedEnd(ending), true);
    this.#socket.end(ending);
  }

  #refuse(operation: Operation, problem: Problem): void {
    const { requestId, facts } = this.#socket;
    if (problem.status >= 500) this.#parts.onFailure(requestId, problem, facts.clientAddress);
    this.#recordRefusal(problem, performance.now() - operation.startedMs);
    this.#stopAtUpstream(operation);
    this.#sendError(operation.id, problem);
    this.#end([operation], tracedRefusal(problem), true);
  }

  #recordRefusal(problem: Problem, openMs: number): void {
    const { requestId, facts } = this.#socket;
    const socket = { requestId, clientAddress: facts.clientAddress, identity: this.#identity };
    this.#parts.recordRefusal(refusalOfOperation(socket, problem, openMs));
  }

  #end(operations: readonly Operation[], end: TracedEnd, byUpstream = false): void {
    const open = operations.filter(({ ended }) => !ended);
    this.#operations.end(open, byUpstream);
    for (const { upstreamId, trace } of open) {
      if (upstreamId !== null) this.#atUpstream.delete(upstreamId);
      trace?.end(end);
      this.#parts.onOperations(-1);
    }
  }

  #stopAtUpstream({ upstreamId }: Operation): void {
    const { link } = this.#upstream;
    if (upstreamId === null || link === null) return;
    link.ids.stopped(upstreamId);
    link.send(JSON.stringify({ id: upstreamId, type: this.#socket.protocol.stop }));
  }

  #sendError(id: string, problem: Problem): void {
    const { protocol, requestId, toCaller } = this.#socket;
    const payload = protocol.errorPayload(operationError(problem, requestId));
    toCaller.send(JSON.stringify({ id, type: 'error', payload }));
  }
}

/** A function of its own, because the compiler believes that the member is still what it was before a wait. */
function hasEnded({ ended }: Operation): boolean {
  return ended;
}

/** A result under the caller's own id; null where it is nested so deep that it can't be written anew. */
function withId(bytes: Buffer, id: string): Buffer | null {
  const message = parseKeepingDigits(bytes.toString());
  return message === null ? null : Buffer.from(JSON.stringify({ ...message, id }));
}
