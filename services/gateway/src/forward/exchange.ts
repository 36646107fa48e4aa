import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Problem } from '@tollgate/http/problem';
import type { CallTrace } from '../trace/traces.ts';
import type { AbandonedCalls } from './abandoned-calls.ts';
import { AnswerRelay } from './answer/answer-relay.ts';
import { isFreeByDefault, statedPoints } from './price/price.ts';
import type { PriceFault } from './price/price.ts';
import type { PriceLog } from './price/price-log.ts';
import type { ForwardOutcome, Relay, RelayEnd } from './answer/relay.ts';
import { upstreamPath } from './request/upstream-path.ts';
import type { UpstreamObserver } from './upstream/upstream-metrics.ts';
import type { UpstreamAddress, Upstreams } from './upstream/upstreams.ts';

export type ExchangeLimits = {
  /** Waiting for a connection: a new one, or a free one where all are in use. */
  connectTimeoutMs: number;
  /** From the beginning to the end of the answer; 0 for no limit. */
  wholeTimeoutMs: number;
  /** What an answer costs that doesn't state its price. */
  defaultPoints: number;
};

type ExchangeParts = {
  upstreams: Upstreams;
  limits: ExchangeLimits;
  observer: Pick<UpstreamObserver, 'onRetry'>;
  abandoned: AbandonedCalls;
  logPrice: PriceLog;
};

/** The request as it goes out, whichever address gets it. */
export type OutgoingRequest = {
  method: NonNullable<IncomingMessage['method']>;
  query: string;
  headers: string[];
  body: Buffer | Readable | null;
  trace: CallTrace | null;
};

type Settled = { resolve: (outcome: ForwardOutcome) => void; reject: (problem: Problem) => void };

/**
 * One call's exchange with the upstream: its address, its one second attempt, its time limits. A class for the
 * same reason as AnswerRelay.
 */
export class Exchange implements RelayEnd {
  readonly #parts: ExchangeParts;
  readonly #request: OutgoingRequest;
  readonly #settled: Settled;
  readonly #relay: AnswerRelay;
  #address: UpstreamAddress;
  #beganMs = 0;
  #attempts = 0;
  #trial = false;
  #waiting: NodeJS.Timeout | undefined;
  #overdue: NodeJS.Timeout | undefined;

  constructor(parts: ExchangeParts, request: OutgoingRequest, relay: Relay, settled: Settled) {
    this.#parts = parts;
    this.#request = request;
    this.#settled = settled;
    this.#address = parts.upstreams.pick(null);
    this.#relay = new AnswerRelay(relay, this);
  }

  begin(): void {
    const { wholeTimeoutMs } = this.#parts.limits;
    if (wholeTimeoutMs > 0) {
      this.#overdue = setTimeout(() => {
        this.#relay.giveUp();
      }, wholeTimeoutMs);
    }
    this.#dispatch();
  }

  headCame(status: number, headers: IncomingHttpHeaders, isOpenStream: boolean): number {
    const address = this.#address;
    this.#trial = false;
    address.health.succeeded();
    address.observeHeaders((performance.now() - this.#beganMs) / 1000);
    // A stream lives for as long as it is followed; the limits on silence hold for it all the same.
    if (isOpenStream) clearTimeout(this.#overdue);
    const stated = statedPoints(headers);
    if (typeof stated !== 'number') return this.#unpriced(stated, isFreeByDefault(status, isOpenStream));
    address.statesPrices = true;
    return stated;
  }

  abandoned(): void {
    this.#parts.abandoned.add(this.#relay);
  }

  failed(error: Error, mayHaveBeenSent: boolean): boolean {
    const kind = mayHaveBeenSent ? kindOf(error) : connectFailure(error);
    if (kind === null) return false;
    const { onFailure, health } = this.#address;
    onFailure(kind);
    health.failed(this.#trial);
    this.#trial = false;
    if (mayHaveBeenSent || this.#attempts > 1) return false;
    const next = this.#parts.upstreams.pick(this.#address);
    // What didn't answer in all that time wouldn't now, and the caller would wait twice as long as was set.
    if (next === this.#address && isConnectTimeout(error)) return false;
    this.#leave();
    this.#parts.observer.onRetry();
    this.#address = next;
    this.#dispatch();
    return true;
  }

  settling(): void {
    this.#request.trace?.begin('settle');
  }

  brokeOff(): void {
    this.#address.onFailure('answer');
  }

  resolve(outcome: ForwardOutcome): void {
    if (outcome === 'aborted') this.#parts.abandoned.delete(this.#relay);
    this.#leave();
    clearTimeout(this.#overdue);
    this.#settled.resolve(outcome);
  }

  reject(problem: Problem): void {
    this.#leave();
    clearTimeout(this.#overdue);
    this.#settled.reject(problem);
  }

  #dispatch(): void {
    const address = this.#address;
    const { method, query, headers, body, trace } = this.#request;
    this.#attempts += 1;
    trace?.sendTo(address, this.#attempts);
    address.inFlight += 1;
    this.#trial = address.health.beginCall();
    this.#beganMs = performance.now();
    const path = upstreamPath(address.path, method, query);
    // Not `blocking`: that keeps others from a connection until the head has come, and with one request on each
    // there is nobody to keep from it.
    const request = { method, path, headers, body, blocking: false };
    const poolIsFree = address.pool.dispatch(request, this.#relay);
    // The client's own time limits begin only when a request has got its connection.
    if (poolIsFree) return;
    this.#waiting = setTimeout(() => {
      this.#relay.giveUpWaiting();
    }, this.#parts.limits.connectTimeoutMs);
  }

  #unpriced(fault: PriceFault, isFree: boolean): number {
    const { limits, logPrice } = this.#parts;
    const { origin, statesPrices, onUnpriced } = this.#address;
    if (!isFree || fault !== 'missing') {
      onUnpriced(fault);
      // An upstream that never states prices is set up so: only the metric tells.
      if (fault !== 'missing' || statesPrices) logPrice(origin, fault);
    }
    return isFree ? 0 : limits.defaultPoints;
  }

  /** This address is done with, whatever came of it. */
  #leave(): void {
    clearTimeout(this.#waiting);
    this.#address.inFlight -= 1;
    if (this.#trial) this.#address.health.trialUndecided();
  }
}

/**
 * What kept a request from being written at all. The HTTP client hands a request its connection before it
 * writes the first byte, so one that never got one was certainly not sent. Null for a fault of the request
 * itself, or of a shutdown: another attempt would meet it again.
 */
function connectFailure(error: Error): 'connect' | null {
  const code = 'code' in error ? error.code : undefined;
  if (error instanceof Problem || code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    return null;
  return code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED' ? null : 'connect';
}

function isConnectTimeout(error: Error): boolean {
  return 'code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT';
}

function kindOf(error: Error): 'connection' | 'headers_timeout' | null {
  // The caller's own body: too large, or it broke off.
  if (error instanceof Problem) return null;
  return 'code' in error && error.code === 'UND_ERR_HEADERS_TIMEOUT' ? 'headers_timeout' : 'connection';
}
