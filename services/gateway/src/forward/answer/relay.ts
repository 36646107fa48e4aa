import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { Problem } from '@tollgate/http/problem';
import type { RateLimitState } from '../../admission/rate-limit-state.ts';
import type { AnswerUsage } from '../../metering/settlement/settle-call.ts';
import type { AnswerRules } from './answer-rules.ts';

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
  /** Ends it: by a last event that says why where the stream can take one, else by a cut. */
  cut: (why: Problem) => void;
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
  rateLimitState: RateLimitState;
  answerRules: AnswerRules;
  /** A caller that takes nothing of its answer for this long is cut off. */
  stallTimeoutMs: number;
  meter: AnswerMeter;
};

/** Who is told how an exchange goes. */
export type RelayEnd = {
  /** Returns what the answer costs. */
  headCame: (status: number, headers: IncomingHttpHeaders, isOpenStream: boolean) => number;
  /** The caller has gone, but the request has been sent: the relay goes on waiting for its price. */
  abandoned: () => void;
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
