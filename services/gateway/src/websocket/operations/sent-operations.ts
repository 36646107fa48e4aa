import type { Message } from '../message.ts';
import { isUnanswered, mayBeCall } from './operation.ts';
import type { Operation } from './operation.ts';
import type { Protocol } from '../protocol.ts';
import type { UpstreamLink } from '../upstream/upstream-link.ts';
import type { UpstreamSide } from '../upstream/upstream-side.ts';

/** What a query or mutation may take, from when it was sent. */
export type CallTimeouts = {
  /** Until its first result. */
  answerTimeoutMs: number;
  /** In all; 0 for no limit. */
  wholeTimeoutMs: number;
};

/** The operations that the upstream has been sent and has not ended, by the ids that it knows them by. */
export class SentOperations {
  readonly #upstream: Pick<UpstreamSide, 'link' | 'isPaused' | 'resumedMs'>;
  readonly #protocol: Protocol;
  readonly #timeouts: CallTimeouts;
  readonly #byId = new Map<string, Operation>();
  /** Of those, what may be a query or mutation: its time is limited. */
  readonly #calls = new Set<Operation>();

  constructor(upstream: UpstreamSide, protocol: Protocol, timeouts: CallTimeouts) {
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

  /** Sends an operation; returns how many bytes that took. */
  send(operation: Operation, link: UpstreamLink, payload: unknown): number {
    const id = link.ids.take(operation.id);
    operation.upstreamId = id;
    this.#byId.set(id, operation);
    if (mayBeCall(operation)) this.#calls.add(operation);
    const start: Message = { id, type: this.#protocol.start, payload };
    const message = JSON.stringify(start);
    link.send(message);
    return Buffer.byteLength(message);
  }

  /** Its caller uses its id no longer, and may use it again; the upstream isn't told. */
  freeId({ upstreamId }: Operation): void {
    if (upstreamId !== null) this.#upstream.link?.ids.stopped(upstreamId);
  }

  /** Tells the upstream to end it. */
  stop(operation: Operation): void {
    const { upstreamId } = operation;
    if (upstreamId === null || this.#byId.get(upstreamId) !== operation) return;
    this.freeId(operation);
    this.#upstream.link?.send(JSON.stringify({ id: upstreamId, type: this.#protocol.stop }));
  }

  /** Nothing more is expected of it. */
  remove(operation: Operation): void {
    const { upstreamId } = operation;
    this.#calls.delete(operation);
    if (upstreamId !== null && this.#byId.get(upstreamId) === operation) this.#byId.delete(upstreamId);
  }

  /** Queries and mutations that have taken too long; a persisted operation may be a subscription, which may not. */
  overdue(nowMs: number): Operation[] {
    // What has not been read yet may be an answer.
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
