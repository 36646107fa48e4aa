import type { Message } from '../protocol/message.ts';
import { isUnanswered, mayBeCall } from './operation.ts';
import type { Operation } from './operation.ts';
import type { Protocol } from '../protocol/protocol.ts';
import type { UpstreamSocket } from '../upstream/upstream-socket.ts';
import type { UpstreamConnector } from '../upstream/upstream-connector.ts';

export type CallTimeouts = {
  answerTimeoutMs: number;
  /** In total; 0 for no limit. */
  wholeTimeoutMs: number;
};

/** Operations that were sent to the upstream and have not ended, by the upstream's ids. */
export class SentOperations {
  readonly #upstream: Pick<UpstreamConnector, 'socket' | 'isPaused' | 'resumedMs'>;
  readonly #protocol: Protocol;
  readonly #timeouts: CallTimeouts;
  readonly #byId = new Map<string, Operation>();
  /** Those that may be queries or mutations, which have timeouts. */
  readonly #calls = new Set<Operation>();

  constructor(upstream: UpstreamConnector, protocol: Protocol, timeouts: CallTimeouts) {
    this.#upstream = upstream;
    this.#protocol = protocol;
    this.#timeouts = timeouts;
  }

  get(upstreamId: string): Operation | undefined {
    return this.#byId.get(upstreamId);
  }

  all(): Operation[] {
    return [...this.#byId.values()];
  }

  send(operation: Operation, socket: UpstreamSocket, payload: unknown): number {
    const id = socket.ids.take(operation.id);
    operation.upstreamId = id;
    this.#byId.set(id, operation);
    if (mayBeCall(operation)) this.#calls.add(operation);
    const start: Message = { id, type: this.#protocol.start, payload };
    const message = JSON.stringify(start);
    socket.send(message);
    return Buffer.byteLength(message);
  }

  /** Lets the caller reuse the id, without telling the upstream. */
  freeId({ upstreamId }: Operation): void {
    if (upstreamId !== null) this.#upstream.socket?.ids.stopped(upstreamId);
  }

  stop(operation: Operation): void {
    const { upstreamId } = operation;
    if (upstreamId === null || this.#byId.get(upstreamId) !== operation) return;
    this.freeId(operation);
    this.#upstream.socket?.send(JSON.stringify({ id: upstreamId, type: this.#protocol.stop }));
  }

  remove(operation: Operation): void {
    const { upstreamId } = operation;
    this.#calls.delete(operation);
    if (upstreamId !== null && this.#byId.get(upstreamId) === operation) this.#byId.delete(upstreamId);
  }

  /** Queries and mutations past their timeout; persisted operations have none, as they may be subscriptions. */
  overdue(nowMs: number): Operation[] {
    // The result may be in what hasn't been read yet.
    if (this.#calls.size === 0 || this.#upstream.isPaused()) return [];
    const resumedMs = this.#upstream.resumedMs();
    return [...this.#calls].filter((operation) => {
      const timeMs = nowMs - Math.max(operation.sentMs, resumedMs);
      const { answerTimeoutMs, wholeTimeoutMs } = this.#timeouts;
      if (operation.type === 'unknown' && !operation.abandoned) return false;
      return isUnanswered(operation)
        ? timeMs > answerTimeoutMs
        : wholeTimeoutMs > 0 && timeMs > wholeTimeoutMs;
    });
  }
}
