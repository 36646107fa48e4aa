import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { Problem } from '@tollgate/http/problem';
import { fieldValues, pathOf } from '@tollgate/http/request-head';
import type { CallRules } from '@tollgate/contracts/entitlement';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { PayerEntitlement } from '../ledger/principal.ts';
import type { OperationRequest, ReadRequest } from '../operation-reader/operation-reader.ts';
import { ESTIMATE_PATH, V1_ESTIMATE_PATH } from '../http/data-paths.ts';
import type { Estimates } from './estimates.ts';

/**
 * Whether a request asks for the price and nothing else: by its path, or by `X-Points-Estimate: only`.
 * @throws {Problem} invalid_request for another value
 */
export function asksForEstimate(req: Pick<HttpRequest, 'rawHeaders' | 'url'>): boolean {
  const values = fieldValues(req.rawHeaders, 'x-points-estimate');
  if (values.some((value) => value !== 'only')) {
    throw new Problem('invalid_request', { detail: 'X-Points-Estimate can only be `only`.' });
  }
  const path = pathOf(req);
  return values.length > 0 || path === ESTIMATE_PATH || path === V1_ESTIMATE_PATH;
}

export type EstimateAnswerOptions = {
  estimates: Estimates;
  /** Null if it isn't limited, or isn't known at the moment. */
  readPointsRemaining: (payer: PayerEntitlement) => Promise<number | null>;
};

const DEAREST = 10;

/** Answers with what the operations would cost, whether they would be admitted, and which fields cost most. */
export function createAnswerEstimate({ estimates, readPointsRemaining }: EstimateAnswerOptions) {
  function refusalOf(points: number | null, pointsRemaining: number | null, rules: CallRules | null) {
    const limit = rules?.points_per_call_limit;
    if (limit !== undefined && points === null) return 'price_unknown';
    if (limit !== undefined && points !== null && points > limit) return 'call_too_expensive';
    return pointsRemaining === 0 ? 'points_limit_exceeded' : null;
  }

  function estimateOf(
    request: OperationRequest,
    pointsRemaining: number | null,
    payer: PayerEntitlement | ErrorCode,
  ) {
    const estimate = estimates.ofRequest(request);
    const reason =
      typeof payer === 'string'
        ? payer
        : refusalOf(estimate?.points ?? null, pointsRemaining, payer.callRules);
    return {
      points: estimate?.points ?? null,
      points_remaining: pointsRemaining,
      allowed: reason === null,
      reason,
      bounded: estimate?.isBounded ?? false,
      fields: estimate === null ? [] : estimates.dearest(request, DEAREST),
    };
  }

  /** `payer` is the code of why the payer may not call, or its entitlement. */
  return async (
    res: HttpResponse,
    { operations, requests }: ReadRequest,
    payer: PayerEntitlement | ErrorCode,
    requestId: string,
  ): Promise<void> => {
    const remaining = typeof payer === 'string' ? null : await readPointsRemaining(payer);
    const answers = requests.map((request) => ({
      extensions: { estimate: estimateOf(request, remaining, payer) },
    }));
    const body = JSON.stringify(operations.isBatch ? answers : answers[0]);
    res.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      vary: 'Origin, X-Points-Estimate',
      'x-points-cost': '0',
      'x-request-id': requestId,
    });
    res.end(body);
  };
}

export type AnswerEstimate = ReturnType<typeof createAnswerEstimate>;
