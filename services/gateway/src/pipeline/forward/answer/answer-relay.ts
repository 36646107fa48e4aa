import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { endWithCaller } from '@tollgate/http/end-with-caller';
import { writeSharedHead } from '@tollgate/plain-http/message';
import type { HttpResponse } from '@tollgate/plain-http/message';
import { Problem, toProblem } from '@tollgate/http/problem';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { answerFields, isDocument, isOpenStream } from './answer-fields.ts';
import type { AnswerFields } from './answer-fields.ts';
import type { Answer, AnswerStream, ForwardOutcome, RelayEvents, RelayOptions } from './answer.ts';
import { FREE } from '../price/price.ts';
import type { Price } from '../price/price.ts';
import { createResultCount } from './result-count.ts';
import type { ResultCount } from './result-count.ts';
import { createStreamEnding } from './stream-ending.ts';
import type { StreamEnding } from './stream-ending.ts';
import { guardAgainstSlowReader } from '../../../http/slow-reader.ts';
import { upstreamProblem } from '../upstream/upstream-problem.ts';

type Controller = Dispatcher.DispatchController;

/** Responses up to this length are held back whole until their usage is recorded. */
const HELD_ANSWER_MAX_BYTES = 16_384;
/** For documents of unknown length. */
const HELD_CHUNKS_MAX_MS = 1_000;

/** `addsLength` if the length is known only at the end. */
type HeldHead = { status: number; fields: AnswerFields; addsLength: boolean };

/**
 * Passes the upstream's response on as it arrives, with back-pressure. If the upstream breaks off, the caller's
 * connection is cut off, so that the response can't look complete. Its end (a short response whole) is held back
 * until its usage is recorded; only `complete` completes a response. A class, because one is made for every call, and
 * a closure for each event would cost more.
 */
export class AnswerRelay implements Dispatcher.DispatchHandler, Answer {
  usage: Answer['usage'] = null;
  stream: AnswerStream | null = null;
  brokenOff: ForwardOutcome | null = null;
  readonly #options: RelayOptions;
  readonly #events: RelayEvents;
  #state: 'waiting' | 'answering' | 'settling' | 'over' = 'waiting';
  #upstream: Controller | undefined;
  #isSent = false;
  #isAbandoned = false;
  #isError = false;
  #price: Price = FREE;
  #results: ResultCount | null = null;
  #trafficBytes = 0;
  #bytesToCome = Infinity;
  #head: HeldHead | undefined;
  #held: Buffer[] = [];
  #holding: NodeJS.Timeout | undefined;
  #ending: StreamEnding | undefined;

  constructor(options: RelayOptions, events: RelayEvents) {
    this.#options = options;
    this.#events = events;
    options.res.on('close', this.#onCallerGone);
  }

  /** Ends the wait for a connection to the upstream. */
  giveUpWaiting(): void {
    if (this.#state !== 'waiting' || this.#upstream !== undefined) return;
    this.#fail(
      new Problem('service_unavailable', { cause: new Error('all upstream connections are in use') }),
    );
  }

  /** The whole exchange has taken too long. */
  giveUp(): void {
    if (this.#state === 'settling') return;
    const error = new Error('the whole exchange took too long');
    this.#breakOff(new Problem('upstream_timeout', { cause: error }));
    this.#upstream?.abort(error);
  }

  onRequestStart(controller: Controller): void {
    // An abort would cost the pool its connection.
    if (this.#state === 'over') throw new Error('the caller has gone');
    this.#upstream = controller;
  }

  onRequestSent(): void {
    this.#isSent = true;
  }

  onResponseStart(controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    // The gateway asked for no interim response.
    if (status < 200) return;
    const { operationType, requestId, billingStatus, estimatedPoints, rateLimitState, answerRules } =
      this.#options;
    const isStream = isOpenStream(operationType, headers);
    if (isStream && !this.#hasRoomForStream(controller)) return;
    this.#price = this.#events.onHead(status, headers, isStream);
    if (this.#price.pointsPerResult > 0) this.#results = createResultCount(headers);
    const { points } = this.#price;
    this.#state = 'answering';
    this.#isError = status >= 400;
    if (headers['content-length'] !== undefined) this.#bytesToCome = Number(headers['content-length']);
    const own = { requestId, billingStatus, rateLimitState, points, estimatedPoints };
    const fields = answerFields(status, headers, answerRules, own);
    if (status === 204 || status === 304 || (this.#bytesToCome <= HELD_ANSWER_MAX_BYTES && !isStream)) {
      this.#head = { status, fields, addsLength: false };
    } else if (headers['transfer-encoding'] !== undefined && !isStream && isDocument(headers)) {
      this.#head = { status, fields, addsLength: true };
      this.#holdBriefly();
    } else {
      this.#sendHead(status, fields, headers);
      if (isStream) this.#openStream(headers);
    }
    if (this.#isAbandoned) this.#abort();
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#trafficBytes += chunk.length;
    this.#bytesToCome -= chunk.length;
    this.#results?.saw(chunk);
    if (this.#head !== undefined) {
      this.#held.push(chunk);
      if (this.#trafficBytes > HELD_ANSWER_MAX_BYTES) this.#release();
    } else if (this.#bytesToCome <= 0) {
      this.#held.push(chunk);
    } else {
      this.#ending?.saw(chunk);
      this.#pass(chunk);
    }
  }

  onResponseEnd(): void {
    if (this.#state !== 'answering') return;
    this.#state = 'settling';
    clearTimeout(this.#holding);
    if (this.#results === null) this.#arrived();
    else void this.#results.ended().then(this.#arrived);
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#state === 'waiting') {
      if (!this.#events.onFailure(error, this.#upstream !== undefined)) this.#fail(upstreamProblem(error));
    } else if (this.#state === 'answering') {
      this.#events.onBrokenOff();
      this.#breakOff(upstreamProblem(error));
    }
  }

  readonly #arrived = (): void => {
    this.usage = this.#used(this.#trafficBytes, this.#isError);
    this.#events.resolve(this);
  };

  #used(trafficBytes: number, isError: boolean): NonNullable<Answer['usage']> {
    return { points: this.#points(), trafficBytes, isStated: this.#price.isStated, isError };
  }

  readonly #points = (): number => {
    const { points, pointsPerResult, most } = this.#price;
    if (this.#results === null) return points;
    return Math.min(Math.max(points, this.#results.results() * pointsPerResult), most);
  };

  #sendHead(status: number, { shared, own }: AnswerFields, headers: IncomingHttpHeaders): void {
    const { res } = this.#options;
    if (endsWithConnection(headers)) closeToEnd(res);
    writeSharedHead(res, status, shared, own);
    // A body that doesn't arrive with the head must not delay it.
    queueMicrotask(() => {
      if (this.#state === 'answering' && this.#trafficBytes === 0) res.flushHeaders();
    });
  }

  /** Most streams have their slot already; one that the upstream chose doesn't. */
  #hasRoomForStream(controller: Controller): boolean {
    try {
      this.#events.takeStreamSlot();
      return true;
    } catch (error) {
      this.#fail(toProblem(error));
      controller.abort(new Error('there is no room for the stream'));
      return false;
    }
  }

  #openStream(headers: IncomingHttpHeaders): void {
    if (this.#bytesToCome === Infinity) this.#ending = createStreamEnding(headers);
    const trafficBytes = () => this.#trafficBytes;
    endWithCaller(this.#options.res);
    this.stream = this.#options.onStream({ points: this.#points, trafficBytes, cut: this.#cut });
  }

  /** Most short responses arrive whole at once. */
  #holdBriefly(): void {
    queueMicrotask(() => {
      if (this.#state !== 'answering' || this.#head === undefined) return;
      this.#holding = setTimeout(this.#release, HELD_CHUNKS_MAX_MS);
    });
  }

  /** A response that was held back turns out to be long or slow. */
  readonly #release = (): void => {
    if (this.#head === undefined) return;
    const { res } = this.#options;
    clearTimeout(this.#holding);
    const { shared, own } = this.#head.fields;
    writeSharedHead(res, this.#head.status, shared, own);
    this.#head = undefined;
    if (this.#held.length === 0) res.flushHeaders();
    else this.#pass(Buffer.concat(this.#held));
    this.#held = [];
  };

  #pass(chunk: Buffer): void {
    const { res } = this.#options;
    if (res.write(chunk)) return;
    this.#guardAgainstStall();
    this.#upstream?.pause();
    res.once('drain', () => {
      this.#upstream?.resume();
    });
  }

  /** A caller that has seen nothing yet gets the problem instead, at no cost. */
  #breakOff(problem: Problem): void {
    if (this.#state === 'waiting' || (this.#state === 'answering' && this.#head !== undefined)) {
      this.#fail(problem);
    } else if (this.#state === 'answering') {
      this.#endEarly('broken');
      cutAnswer(this.#options.res);
    }
  }

  complete(isRecorded: boolean): ForwardOutcome {
    const { res } = this.#options;
    // The caller has gone meanwhile.
    if (this.#state !== 'settling') return 'aborted';
    this.#end();
    if (!isRecorded) return this.#refuseUnrecorded();
    const [only] = this.#held;
    const rest = this.#held.length > 1 ? Buffer.concat(this.#held) : only;
    if (this.#head !== undefined) {
      const { status, fields, addsLength } = this.#head;
      if (addsLength) fields.own.push('content-length', String(this.#trafficBytes));
      writeSharedHead(res, status, fields.shared, fields.own);
      // As latin1 text it leaves in one string with the head, which is cheaper than two writes.
      res.end(rest?.toString('latin1'), 'latin1');
    } else {
      res.end(rest);
    }
    if (res.writableLength > 0) this.#guardAgainstStall();
    return 'answered';
  }

  #refuseUnrecorded(): ForwardOutcome {
    if (this.#head === undefined) {
      cutAnswer(this.#options.res);
      return 'unrecorded';
    }
    throw new Problem('service_unavailable', {
      detail: 'The call was carried out, but its usage could not be recorded in time.',
      headers: { 'x-points-cost': String(this.#points()) },
      cause: new Error('Redis has not acknowledged the usage'),
    });
  }

  readonly #cut = (why: Problem): void => {
    if (this.#state !== 'answering') return;
    const { res, requestId } = this.#options;
    const last = res.writableNeedDrain ? undefined : this.#ending?.lastPart(why, requestId);
    this.#endEarly(why.code);
    this.#upstream?.abort(new Error('the stream has to end'));
    if (last === undefined) {
      cutAnswer(res);
      return;
    }
    res.end(last);
    this.#guardAgainstStall();
  };

  /**
   * A caller must gain nothing by going away: a request that was sent costs what its response says
   * (docs/design/settlement.md).
   */
  readonly #onCallerGone = (): void => {
    if (this.#state === 'waiting' && this.#isSent) {
      this.#isAbandoned = true;
      this.#events.onAbandoned();
      return;
    }
    this.#abort();
  };

  #abort(): void {
    this.#endEarly('aborted');
    this.#upstream?.abort(new Error('the caller has gone'));
  }

  /** Before the response has arrived whole, or while that is being settled. */
  #endEarly(outcome: ForwardOutcome): void {
    const state = this.#state;
    this.#end();
    if (state === 'settling') return;
    if (state === 'answering') {
      const trafficBytes = this.#head === undefined ? this.#trafficBytes : 0;
      const isError = this.#isError || outcome === 'broken';
      this.usage = this.#used(trafficBytes, isError);
    }
    this.brokenOff = outcome;
    this.#events.resolve(this);
  }

  #end(): void {
    this.#state = 'over';
    clearTimeout(this.#holding);
    this.#options.res.removeListener('close', this.#onCallerGone);
  }

  #fail(problem: Problem): void {
    if (this.#isAbandoned) {
      this.#endEarly('aborted');
      return;
    }
    this.#end();
    this.#events.reject(problem);
  }

  #guardAgainstStall(): void {
    const { res, stallTimeoutMs } = this.#options;
    guardAgainstSlowReader(res, stallTimeoutMs, () => {
      cutAnswer(res);
    });
  }
}

function endsWithConnection({ 'content-length': length, 'transfer-encoding': coding }: IncomingHttpHeaders) {
  return length === undefined && coding === undefined;
}

/**
 * A response that ends with its connection may be incomplete (RFC 9112, section 8), and chunks would vouch for its
 * completeness.
 */
function closeToEnd(res: HttpResponse): void {
  res.shouldKeepAlive = false;
  res.useChunkedEncodingByDefault = false;
}
