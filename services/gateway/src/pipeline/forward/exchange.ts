import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { PoolFullError } from '@tollgate/plain-http/client';
import type { StopWaiting } from '@tollgate/plain-http/client';
import { Problem } from '@tollgate/http/problem';
import type { Operations } from '../../operation-reader/operation-reader.ts';
import type { CallTrace } from '../../trace/traces.ts';
import type { AbandonedCalls } from './abandoned-calls.ts';
import { AnswerRelay } from './answer/answer-relay.ts';
import { FREE, defaultPrice, statedPoints } from './price/price.ts';
import type { Price, PriceFault } from './price/price.ts';
import type { PriceLog } from './price/price-log.ts';
import type { Answer, RelayEvents, RelayOptions } from './answer/answer.ts';
import { upstreamPath } from './request/upstream-path.ts';
import type { Room } from '../../http/room.ts';
import type { UpstreamObserver } from './upstream/metrics.ts';
import type { UpstreamAddress, Upstreams } from './upstream/upstreams.ts';

export type ExchangeLimits = {
  /** For a connection: a new one, or a free one if all are in use. */
  connectTimeoutMs: number;
  /** From beginning to end; 0 for no limit. */
  wholeTimeoutMs: number;
  /** For each operation and each result of a response that states no price. */
  defaultPoints: number;
  /** Whether such a response costs its estimate instead, where there is one. */
  chargesEstimates: boolean;
};

type ExchangeOptions = {
  upstreams: Upstreams;
  limits: ExchangeLimits;
  observer: Pick<UpstreamObserver, 'onRetry'>;
  abandoned: AbandonedCalls;
  logPrice: PriceLog;
  /** Open streams, each of which has a connection of its own (docs/design/forwarding.md). */
  streamSlots: Pick<Room, 'take'>;
};

/** The request as it goes out, whichever address gets it. */
export type OutgoingRequest = {
  method: NonNullable<IncomingMessage['method']>;
  query: string;
  sharedHeaders: readonly string[];
  headers: readonly string[];
  body: Buffer | Readable | null;
  operations: Operations;
  estimatedPoints: number | null;
  /** Infinity unless the payer's points are strict. */
  reservedPoints: number;
  trace: CallTrace | null;
  payerId: number;
  /** Gives the slot back that a call expected to be a stream has taken; null for other calls. */
  leaveStreams: (() => void) | null;
};

type AnswerPromise = Pick<PromiseWithResolvers<Answer>, 'resolve' | 'reject'>;

/** A call's exchange with the upstream: its address, its second attempt, its time limits. A class like AnswerRelay. */
export class Exchange implements RelayEvents {
  readonly #options: ExchangeOptions;
  readonly #request: OutgoingRequest;
  readonly #promise: AnswerPromise;
  readonly #relay: AnswerRelay;
  #address: UpstreamAddress;
  #beganMs = 0;
  #attempts = 0;
  #trial = false;
  #waiting: NodeJS.Timeout | undefined;
  #stopWaiting: StopWaiting | null = null;
  #leaveStreams: (() => void) | null;
  #overdue: NodeJS.Timeout | undefined;

  constructor(
    options: ExchangeOptions,
    request: OutgoingRequest,
    relayOptions: RelayOptions,
    promise: AnswerPromise,
  ) {
    this.#options = options;
    this.#request = request;
    this.#promise = promise;
    this.#leaveStreams = request.leaveStreams;
    this.#address = options.upstreams.pick(null);
    this.#relay = new AnswerRelay(relayOptions, this);
  }

  begin(): void {
    const { wholeTimeoutMs } = this.#options.limits;
    if (wholeTimeoutMs > 0) {
      this.#overdue = setTimeout(() => {
        this.#relay.giveUp();
      }, wholeTimeoutMs);
    }
    this.#dispatch();
  }

  onHead(status: number, headers: IncomingHttpHeaders, isOpenStream: boolean): Price {
    const address = this.#address;
    this.#trial = false;
    address.health.succeeded();
    address.observeHeaders((performance.now() - this.#beganMs) / 1000);
    // Only the limits on silence hold for a stream.
    if (isOpenStream) clearTimeout(this.#overdue);
    const stated = statedPoints(headers);
    const isStated = typeof stated === 'number';
    if (isStated) address.statesPrices = true;
    if (isStated) return { points: stated, pointsPerResult: 0, most: stated, isStated };
    const { defaultPoints, chargesEstimates } = this.#options.limits;
    const { operations, estimatedPoints, reservedPoints } = this.#request;
    const charged = {
      defaultPoints,
      estimatedPoints: chargesEstimates ? estimatedPoints : null,
      reservedPoints,
    };
    return this.#unpriced(stated, defaultPrice(status, isOpenStream, operations, charged));
  }

  takeStreamSlot(): void {
    this.#leaveStreams ??= this.#options.streamSlots.take(this.#request.payerId, 1).release;
    this.#address.pool.setApart(this.#relay);
  }

  onAbandoned(): void {
    this.#options.abandoned.add(this.#relay);
  }

  onFailure(error: Error, mayHaveBeenSent: boolean): boolean {
    const kind = mayHaveBeenSent ? kindOf(error) : connectFailure(error);
    if (kind === null) return false;
    const { onFailure, health } = this.#address;
    onFailure(kind);
    health.failed(this.#trial);
    this.#trial = false;
    if (mayHaveBeenSent || this.#attempts > 1) return false;
    const next = this.#options.upstreams.pick(this.#address);
    // The caller would wait twice the timeout.
    if (next === this.#address && isConnectTimeout(error)) return false;
    this.#leave();
    this.#options.observer.onRetry();
    this.#address = next;
    this.#dispatch();
    return true;
  }

  onBrokenOff(): void {
    this.#address.onFailure('answer');
  }

  resolve(answer: Answer): void {
    this.#end();
    this.#promise.resolve(answer);
    // Only now: at a shutdown the usage of the last one has to be recorded first.
    if (answer.brokenOff === 'aborted') this.#options.abandoned.delete(this.#relay);
  }

  reject(problem: Problem): void {
    this.#end();
    this.#promise.reject(problem);
  }

  #end(): void {
    this.#leave();
    this.#leaveStreams?.();
    clearTimeout(this.#overdue);
  }

  #dispatch(): void {
    const address = this.#address;
    const { method, query, sharedHeaders, headers, body, trace, payerId: holder } = this.#request;
    this.#attempts += 1;
    trace?.sendTo(address, this.#attempts);
    address.inFlight += 1;
    this.#trial = address.health.beginCall();
    this.#beganMs = performance.now();
    const path = upstreamPath(address.path, method, query);
    const request = { method, path, sharedHeaders, headers, body, holder };
    this.#stopWaiting = address.pool.dispatch(request, this.#relay);
    // The pool's own time limits begin with a connection.
    if (this.#stopWaiting === null) return;
    this.#waiting = setTimeout(() => {
      this.#relay.giveUpWaiting();
    }, this.#options.limits.connectTimeoutMs);
  }

  #unpriced(fault: PriceFault, price: Price | null): Price {
    const { logPrice } = this.#options;
    const { origin, statesPrices, onUnpriced } = this.#address;
    if (price !== null || fault !== 'missing') {
      onUnpriced(fault);
      // An upstream that never states prices is meant to: the metric is enough.
      if (fault !== 'missing' || statesPrices) logPrice(origin, fault);
    }
    return price ?? FREE;
  }

  #leave(): void {
    clearTimeout(this.#waiting);
    this.#stopWaiting?.();
    this.#address.inFlight -= 1;
    if (this.#trial) this.#address.health.trialUndecided();
  }
}

/**
 * The kind of failure of a request that never got a connection, and so was certainly not sent. Null if a second
 * attempt would fail alike: a fault of the request itself, or a shutdown.
 */
function connectFailure(error: Error): 'connect' | null {
  const code = 'code' in error ? error.code : undefined;
  if (error instanceof Problem || error instanceof PoolFullError) return null;
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') return null;
  return code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED' ? null : 'connect';
}

function isConnectTimeout(error: Error): boolean {
  return 'code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT';
}

function kindOf(error: Error): 'connection' | 'headers_timeout' | null {
  // The caller's body was too large, late or broken off.
  if (error instanceof Problem) return null;
  return 'code' in error && error.code === 'UND_ERR_HEADERS_TIMEOUT' ? 'headers_timeout' : 'connection';
}
