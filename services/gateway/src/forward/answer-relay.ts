import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import { Problem } from '@tollgate/problem';
import type { Standing } from '../admission/standing.ts';
import type { AnswerUsage } from '../settlement/settle.ts';
import { answerFields, pointsOf } from './answer-fields.ts';
import { upstreamProblem } from './upstream-problem.ts';

/**
 * How an exchange with the upstream ended: `answered` in full, `aborted` by the caller (before or within the
 * answer), `broken` off by the upstream within the answer, `unrecorded` where Redis didn't acknowledge the usage
 * in time and the caller's connection was cut; or the code of what ended an open stream.
 */
export type ForwardOutcome = 'answered' | 'aborted' | 'broken' | 'unrecorded' | ErrorCode;

/** An answer whose head has come. */
type OpenAnswer = {
  points: number;
  /** Bytes of its body that have been sent to the caller. */
  trafficBytes: () => number;
  /** Cuts it off: the caller sees that it isn't complete. */
  cut: (outcome: ForwardOutcome) => void;
};

/** Who counts what an answer costs. */
export type AnswerMeter = {
  /** Whether an answer with that head is a stream, open for as long as it is followed, and costs by the minute. */
  isOpenStream: (headers: IncomingHttpHeaders) => boolean;
  /** Told of such a stream when it goes on to the caller: not of one that is held back whole. */
  begin: (answer: OpenAnswer) => void;
  /** Called once for each answer that has begun; resolves with whether it may be completed. */
  end: (usage: AnswerUsage) => Promise<boolean>;
};

export type Relay = {
  res: ServerResponse;
  requestId: string;
  billingStatus: string;
  standing: Standing;
  defaultPoints: number;
  /** A caller that takes nothing of its answer for this long is cut off. */
  stallTimeoutMs: number;
  meter: AnswerMeter;
};

/** Who is told how an exchange goes. */
export type RelayEnd = {
  headCame: (isOpenStream: boolean) => void;
  /** It failed before its head came. True where it begins again: the relay goes on waiting. */
  failed: (error: Error, mayHaveBeenSent: boolean) => boolean;
  /** It failed within the answer. */
  brokeOff: () => void;
  /** The answer has come whole; its usage is recorded now. */
  settling: () => void;
  resolve: (outcome: ForwardOutcome) => void;
  /** Nothing has been sent to the caller: it can still be told why. */
  reject: (problem: Problem) => void;
};

type Controller = Dispatcher.DispatchController;

/** Answers up to this length are held back whole, head included, until their usage is recorded. */
const HELD_ANSWER_MAX_BYTES = 16_384;

/**
 * Passes the upstream's answer on as it comes, with back-pressure, and never makes a broken one look whole:
 * where the upstream breaks off, the caller's connection is cut.
 *
 * An answer counts from the moment its head has come, and its end is held back until its usage is recorded: the
 * whole of a short one, else the last chunk, or the mark of the end where the length isn't known before. The one
 * place that completes an answer is #complete. A class, because one is made for every call and a closure for
 * each event would be the larger cost.
 */
export class AnswerRelay implements Dispatcher.DispatchHandler {
  readonly #relay: Relay;
  readonly #end: RelayEnd;
  #state: 'waiting' | 'answering' | 'settling' | 'over' = 'waiting';
  #upstream: Controller | undefined;
  #points = 0;
  #trafficBytes = 0;
  #bytesToCome = Infinity;
  /** Status and fields of an answer that is held back whole. */
  #head: { status: number; fields: string[] } | undefined;
  readonly #held: Buffer[] = [];

  constructor(relay: Relay, end: RelayEnd) {
    this.#relay = relay;
    this.#end = end;
    relay.res.on('close', this.#onCallerGone);
  }

  /** Ends the wait for a connection to the upstream; does nothing once there is one. */
  giveUpWaiting(): void {
    if (this.#state !== 'waiting' || this.#upstream !== undefined) return;
    this.#fail(
      new Problem('service_unavailable', { cause: new Error('all upstream connections are in use') }),
    );
  }

  /** The whole exchange has taken too long. What has been sent of the answer is settled. */
  giveUp(): void {
    if (this.#state === 'settling') return;
    const error = new Error('the whole exchange took too long');
    this.#breakOff(new Problem('upstream_timeout', { cause: error }));
    this.#upstream?.abort(error);
  }

  onRequestStart(controller: Controller): void {
    // Thrown, not aborted: nothing has been sent, and an abort would cost the pool its connection.
    if (this.#state === 'over') throw new Error('the caller has gone');
    this.#upstream = controller;
  }

  onResponseStart(_controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    // A 1xx answer is the upstream's to the gateway, which asked for none.
    if (status < 200) return;
    const { res, meter, requestId, billingStatus, standing, defaultPoints } = this.#relay;
    const isOpenStream = meter.isOpenStream(headers);
    this.#end.headCame(isOpenStream);
    const points = pointsOf(headers, isOpenStream ? 0 : defaultPoints);
    const fields = answerFields(headers, { requestId, billingStatus, standing, points });
    this.#points = points;
    this.#state = 'answering';
    if (headers['content-length'] !== undefined) this.#bytesToCome = Number(headers['content-length']);
    if (this.#bytesToCome <= HELD_ANSWER_MAX_BYTES || status === 204 || status === 304) {
      this.#head = { status, fields };
    } else {
      if (endsWithConnection(headers)) closeToEnd(res);
      res.writeHead(status, fields);
      // Where the body doesn't come with the head, the caller gets the head now.
      queueMicrotask(() => {
        if (this.#state === 'answering' && this.#trafficBytes === 0) res.flushHeaders();
      });
      if (isOpenStream) meter.begin({ points, trafficBytes: () => this.#trafficBytes, cut: this.#cut });
    }
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    const { res } = this.#relay;
    this.#trafficBytes += chunk.length;
    this.#bytesToCome -= chunk.length;
    if (this.#head !== undefined || this.#bytesToCome <= 0) {
      this.#held.push(chunk);
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
    if (this.#state !== 'answering') return;
    this.#state = 'settling';
    this.#end.settling();
    void this.#relay.meter
      .end({ points: this.#points, trafficBytes: this.#trafficBytes })
      .then(this.#complete);
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#state === 'waiting') {
      if (!this.#end.failed(error, this.#upstream !== undefined)) this.#fail(upstreamProblem(error));
    } else if (this.#state === 'answering') {
      this.#end.brokeOff();
      this.#breakOff(upstreamProblem(error));
    }
  }

  /** A caller that has seen nothing of its answer is told what happened instead, and it costs nothing. */
  #breakOff(problem: Problem): void {
    if (this.#state === 'waiting' || (this.#state === 'answering' && this.#head !== undefined)) {
      this.#fail(problem);
    } else if (this.#state === 'answering') {
      this.#over('broken');
      this.#relay.res.destroy();
    }
  }

  readonly #complete = (isRecorded: boolean): void => {
    const { res } = this.#relay;
    // The caller went away meanwhile.
    if (this.#state !== 'settling') return;
    if (!isRecorded) {
      this.#refuseUnrecorded();
      return;
    }
    this.#over('answered');
    const [only] = this.#held;
    const rest = this.#held.length > 1 ? Buffer.concat(this.#held) : only;
    if (this.#head !== undefined) {
      res.writeHead(this.#head.status, this.#head.fields);
      // As text of one character per byte it goes out in one string with the head, which is cheaper than two parts.
      res.end(rest?.toString('latin1'), 'latin1');
    } else {
      res.end(rest);
    }
    if (res.writableLength > 0) this.#guardAgainstStall();
  };

  #refuseUnrecorded(): void {
    if (this.#head === undefined) {
      this.#over('unrecorded');
      // A reset, because an answer that ends with its connection would look whole at an orderly close.
      this.#relay.res.socket?.resetAndDestroy();
      return;
    }
    this.#fail(
      new Problem('service_unavailable', {
        detail: 'The call was carried out, but its usage could not be recorded in time.',
        headers: { 'x-points-cost': String(this.#points) },
        cause: new Error('Redis has not acknowledged the usage'),
      }),
    );
  }

  readonly #cut = (outcome: ForwardOutcome): void => {
    if (this.#state !== 'answering') return;
    this.#over(outcome);
    this.#upstream?.abort(new Error('the stream has to end'));
    this.#relay.res.destroy();
  };

  readonly #onCallerGone = (): void => {
    this.#over('aborted');
    this.#upstream?.abort(new Error('the caller has gone'));
  };

  #over(outcome: ForwardOutcome): void {
    const { res, meter } = this.#relay;
    if (this.#state === 'answering') {
      const trafficBytes = this.#head === undefined ? this.#trafficBytes : 0;
      void meter.end({ points: this.#points, trafficBytes });
    }
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

function endsWithConnection({ 'content-length': length, 'transfer-encoding': coding }: IncomingHttpHeaders) {
  return length === undefined && coding === undefined;
}

/**
 * An answer that ends with its connection can't be told from one that broke off (RFC 9112, section 8). It goes
 * on in the same way, not in chunks that would vouch for its completeness.
 */
function closeToEnd(res: ServerResponse): void {
  res.shouldKeepAlive = false;
  res.useChunkedEncodingByDefault = false;
}
