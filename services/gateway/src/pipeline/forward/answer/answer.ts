import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { HttpResponse } from '@tollgate/plain-http/message';
import type { Problem } from '@tollgate/http/problem';
import type { RateLimitState } from '../../admit/rate-limit-state.ts';
import type { OperationType } from '../../../operation-reader/document-types.ts';
import type { Price } from '../price/price.ts';
import type { AnswerRules } from './answer-rules.ts';

/**
 * How an exchange with the upstream ended: `answered` in full, `aborted` by the caller, `broken` off by the upstream
 * within the response, `unrecorded` if Redis didn't acknowledge the usage in time and the caller was cut off, or the
 * code of what ended an open stream.
 */
export type ForwardOutcome = 'answered' | 'aborted' | 'broken' | 'unrecorded' | ErrorCode;

/** A stream whose head has arrived. */
export type OpenAnswer = {
  /** What it costs so far, without its time. */
  points: () => number;
  /** Bytes of its body that have been sent to the caller. */
  trafficBytes: () => number;
  /** Ends it, with a last event that says why if the stream can take one. */
  cut: (why: Problem) => void;
};

/** A stream's meter: it settles the stream while it is open. */
export type AnswerStream = {
  /** Settles the rest. Resolves when that is recorded. */
  end: () => Promise<unknown>;
};

/** A response that has arrived, and is to be settled. */
export type Answer = {
  /** What it cost; null if it is free, since none has begun. */
  readonly usage: {
    points: number;
    trafficBytes: number;
    /** Whether the upstream has stated the points. */
    isStated: boolean;
    /** The upstream answered with a status of 400 or above, or broke off. */
    isError: boolean;
  } | null;
  /** Null unless it was a subscription's stream, whose meter knows what it cost. */
  readonly stream: AnswerStream | null;
  /** How it ended if it broke off: nothing waits for its settlement. Null for a whole one, which has to be completed. */
  readonly brokenOff: ForwardOutcome | null;
  /**
   * Sends what is held back of a whole response, unless its caller has gone meanwhile.
   * @throws {Problem} service_unavailable if its usage isn't recorded and the caller has seen nothing of it
   */
  complete: (isRecorded: boolean) => ForwardOutcome;
};

export type RelayOptions = {
  res: HttpResponse;
  operationType: OperationType;
  requestId: string;
  billingStatus: string;
  /** Null without an estimate. */
  estimatedPoints: number | null;
  rateLimitState: RateLimitState;
  answerRules: AnswerRules;
  /** See guardAgainstSlowReader. */
  stallTimeoutMs: number;
  /** Called when a subscription's stream goes on to the caller; returns its meter. */
  onStream: (open: OpenAnswer) => AnswerStream;
};

/** Called as an exchange proceeds. */
export type RelayEvents = {
  /** Returns what the response costs. */
  onHead: (status: number, headers: IncomingHttpHeaders, isOpenStream: boolean) => Price;
  /** The response is a stream. @throws {Problem} if there is no room for another one. */
  takeStreamSlot: () => void;
  /** The caller has gone after the request was sent: the relay waits for the price. */
  onAbandoned: () => void;
  /** It failed before the response's head. Returns true if it is sent again: the relay waits on. */
  onFailure: (error: Error, mayHaveBeenSent: boolean) => boolean;
  /** It failed within the response. */
  onBrokenOff: () => void;
  /** It is over but for its settlement. */
  resolve: (answer: Answer) => void;
  /** Nothing has been sent to the caller, who can still be told why. */
  reject: (problem: Problem) => void;
};
