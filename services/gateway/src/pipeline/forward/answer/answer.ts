import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { HttpResponse } from '@tollgate/plain-http/message';
import type { Problem } from '@tollgate/http/problem';
import type { RateLimitState } from '../../admit/rate-limit-state.ts';
import type { Price } from '../price/price.ts';
import type { AnswerRules } from './answer-rules.ts';

/**
 * How an exchange with the upstream ended: `answered` in full, `aborted` by the caller, `broken` off by the upstream
 * within the response, `unrecorded` if Redis didn't acknowledge the usage in time and the caller was cut off, or the
 * code of what ended an open stream.
 */
export type ForwardOutcome = 'answered' | 'aborted' | 'broken' | 'unrecorded' | ErrorCode;

/** A response whose head has arrived. */
type OpenAnswer = {
  /** What it costs so far, without its time. */
  points: () => number;
  /** Bytes of its body that have been sent to the caller. */
  trafficBytes: () => number;
  /** Ends it, with a last event that says why if the stream can take one. */
  cut: (why: Problem) => void;
};

/** Meters a response. */
export type AnswerMeter = {
  /** Whether a response with that head is a subscription's stream, which costs by the minute. */
  isOpenStream: (headers: IncomingHttpHeaders) => boolean;
  /** Called when such a stream goes on to the caller. */
  begin: (answer: OpenAnswer) => void;
  /** Called once for each response that has begun; resolves with whether it may be completed. */
  end: (usage: { points: number; trafficBytes: number }) => Promise<boolean>;
};

export type RelayOptions = {
  res: HttpResponse;
  requestId: string;
  billingStatus: string;
  rateLimitState: RateLimitState;
  answerRules: AnswerRules;
  /** See guardAgainstSlowReader. */
  stallTimeoutMs: number;
  meter: AnswerMeter;
};

/** Called as an exchange proceeds. */
export type RelayEvents = {
  /** Returns what the response costs. */
  onHead: (status: number, headers: IncomingHttpHeaders, isOpenStream: boolean) => Price;
  /** The response is a stream. @throws {Problem} if there is no room for another one. */
  onStream: () => void;
  /** The caller has gone after the request was sent: the relay waits for the price. */
  onAbandoned: () => void;
  /** It failed before the response's head. Returns true if it is sent again: the relay waits on. */
  onFailure: (error: Error, mayHaveBeenSent: boolean) => boolean;
  /** It failed within the response. */
  onBrokenOff: () => void;
  /** The whole response has arrived; its usage is being recorded. */
  onSettling: () => void;
  resolve: (outcome: ForwardOutcome) => void;
  /** Nothing has been sent to the caller, who can still be told why. */
  reject: (problem: Problem) => void;
};
