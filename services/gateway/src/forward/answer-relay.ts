import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { Problem } from '@tollgate/problem';
import type { AnswerUsage } from '../data-call/settle.ts';
import { answerFields, pointsOf } from './answer-fields.ts';
import { upstreamProblem } from './upstream-problem.ts';

/**
 * How an exchange with the upstream ended: `answered` in full, `aborted` by the caller (before or within the
 * answer), or `broken` off by the upstream within the answer.
 */
export type ForwardOutcome = 'answered' | 'aborted' | 'broken';

export type Relay = {
  res: ServerResponse;
  requestId: string;
  billingStatus: string;
  defaultPoints: number;
  /** A caller that takes nothing of its answer for this long is cut off. */
  stallTimeoutMs: number;
  settle: (usage: AnswerUsage) => void;
};

export type RelayEnd = {
  resolve: (outcome: ForwardOutcome) => void;
  /** Nothing has been sent to the caller: it can still be told why. */
  reject: (problem: Problem) => void;
};

type Controller = Dispatcher.DispatchController;

/**
 * Passes the upstream's answer on as it comes, with back-pressure, and never makes a broken one look whole:
 * where the upstream breaks off, the caller's connection is cut.
 *
 * An answer counts from the moment its head has come. The one place that completes it is onResponseEnd: what
 * a caller saw answered in full was handed to settle before. A class, because one is made for every call and
 * a closure for each event would be the larger cost.
 */
export class AnswerRelay implements Dispatcher.DispatchHandler {
  readonly #relay: Relay;
  readonly #end: RelayEnd;
  #state: 'waiting' | 'answering' | 'over' = 'waiting';
  #upstream: Controller | undefined;
  #points = 0;
  #trafficBytes = 0;
  #bytesToCome = Infinity;
  #lastChunk: Buffer | undefined;

  constructor(relay: Relay, end: RelayEnd) {
    this.#relay = relay;
    this.#end = end;
    relay.res.once('close', this.#onCallerGone);
  }

  /** Ends the wait for a connection to the upstream; does nothing once there is one. */
  giveUpWaiting(): void {
    if (this.#state !== 'waiting' || this.#upstream !== undefined) return;
    this.#fail(
      new Problem('service_unavailable', { cause: new Error('all upstream connections are in use') }),
    );
  }

  onRequestStart(controller: Controller): void {
    // Thrown, not aborted: nothing has been sent, and an abort would cost the pool its connection.
    if (this.#state === 'over') throw new Error('the caller has gone');
    this.#upstream = controller;
  }

  onResponseStart(_controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    // A 1xx answer is the upstream's to the gateway, which asked for none.
    if (status < 200) return;
    const { res, requestId, billingStatus, defaultPoints } = this.#relay;
    const points = pointsOf(headers, defaultPoints);
    if (headers['content-length'] !== undefined) this.#bytesToCome = Number(headers['content-length']);
    if (endsWithConnection(status, headers)) closeToEnd(res);
    res.writeHead(status, answerFields(headers, { requestId, billingStatus, points }));
    this.#points = points;
    this.#state = 'answering';
    // Where the body doesn't come with the head, the caller gets the head now.
    queueMicrotask(() => {
      if (this.#state === 'answering' && this.#trafficBytes === 0) res.flushHeaders();
    });
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    const { res } = this.#relay;
    this.#trafficBytes += chunk.length;
    this.#bytesToCome -= chunk.length;
    if (this.#bytesToCome <= 0) {
      this.#lastChunk = chunk;
      return;
    }
    if (res.write(chunk)) return;
    this.#guardAgainstStall();
    controller.pause();
    res.once('drain', () => {
      controller.resume();
    });
  }

  onResponseEnd(): void {
    const { res } = this.#relay;
    this.#over('answered');
    res.end(this.#lastChunk);
    if (res.writableLength > 0) this.#guardAgainstStall();
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#state === 'waiting') {
      this.#fail(upstreamProblem(error));
    } else if (this.#state === 'answering') {
      this.#over('broken');
      this.#relay.res.destroy();
    }
  }

  readonly #onCallerGone = (): void => {
    this.#over('aborted');
    this.#upstream?.abort(new Error('the caller has gone'));
  };

  #over(outcome: ForwardOutcome): void {
    const { res, settle } = this.#relay;
    if (this.#state === 'answering') settle({ points: this.#points, trafficBytes: this.#trafficBytes });
    this.#state = 'over';
    res.removeListener('close', this.#onCallerGone);
    this.#end.resolve(outcome);
  }

  #fail(problem: Problem): void {
    this.#state = 'over';
    this.#relay.res.removeListener('close', this.#onCallerGone);
    this.#end.reject(problem);
  }

  /** The socket's idle timeout sees a slow reader's progress, and cuts off only one that makes none. */
  #guardAgainstStall(): void {
    this.#relay.res.socket?.setTimeout(this.#relay.stallTimeoutMs);
  }
}

function endsWithConnection(status: number, headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  return length === undefined && coding === undefined && status !== 204 && status !== 304;
}

/**
 * An answer that ends with its connection can't be told from one that broke off (RFC 9112, section 8). It goes
 * on in the same way, not in chunks that would vouch for its completeness.
 */
function closeToEnd(res: ServerResponse): void {
  res.shouldKeepAlive = false;
  res.useChunkedEncodingByDefault = false;
}
