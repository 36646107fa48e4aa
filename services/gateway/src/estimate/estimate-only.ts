import { setImmediate } from 'node:timers/promises';
import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { Problem } from '@tollgate/http/problem';
import { fieldValues, pathOf } from '@tollgate/http/request-head';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { PointsLeft, ReadPointsLeft } from '../ledger/points-left.ts';
import type { PayerEntitlement } from '../ledger/principal.ts';
import type { OperationType } from '../operation-reader/document-types.ts';
import type { OperationRequest, ReadRequest } from '../operation-reader/operation-reader.ts';
import type { StoredDocuments } from '../operation-reader/stored-documents.ts';
import { ESTIMATE_PATH, V1_ESTIMATE_PATH, isCostsPath } from '../http/data-paths.ts';
import { needsPrice, whyUnlimited } from './check-price.ts';
import { DEAREST_FIELDS } from './estimates.ts';
import type { Estimate, Estimates } from './estimates.ts';

/**
 * What a request asks for: a call, its price and nothing else (by its path, or by `X-Points-Estimate: only`), or what the
 * parts of the schema weigh.
 * @throws {Problem} invalid_request for another value
 */
export function askedFor(req: Pick<HttpRequest, 'rawHeaders' | 'url'>): 'call' | 'estimate' | 'costs' {
  const values = fieldValues(req.rawHeaders, 'x-points-estimate');
  if (values.some((value) => value !== 'only')) {
    throw new Problem('invalid_request', { detail: 'X-Points-Estimate can only be `only`.' });
  }
  if (isCostsPath(req)) return 'costs';
  const path = pathOf(req);
  return values.length > 0 || path === ESTIMATE_PATH || path === V1_ESTIMATE_PATH ? 'estimate' : 'call';
}

export type EstimateAnswerOptions = {
  estimates: Estimates;
  readPointsLeft: ReadPointsLeft;
  /** Of a subscription. */
  pointsPerMinute: number;
};

type EstimatedCaller = {
  /** The code of why the payer may not call, or its entitlement. */
  payer: PayerEntitlement | ErrorCode;
  documents: Pick<StoredDocuments, 'whyUntrusted'>;
};

/** Answers with what the operations would cost, whether they would be admitted, and which fields cost most. */
export function createAnswerEstimate({ estimates, readPointsLeft, pointsPerMinute }: EstimateAnswerOptions) {
  function estimateOf(
    { request, type }: { request: OperationRequest; type: OperationType },
    { payer, documents }: EstimatedCaller,
    left: PointsLeft | null,
  ) {
    const estimate = estimates.ofRequest(request);
    const remaining = left?.ofPayer ?? Infinity;
    const refusal = (entitlement: PayerEntitlement): ErrorCode | null => {
      const untrusted = documents.whyUntrusted?.(request) ?? null;
      if (untrusted !== null) return untrusted.code;
      if (estimate === null && needsPrice(entitlement)) return estimates.whyUnpriced(request).code;
      const perMinute = type === 'subscription' ? pointsPerMinute : 0;
      return refusalOf(estimate, { payer: entitlement, type, perMinute }, left);
    };
    const reason = typeof payer === 'string' ? payer : refusal(payer);
    return {
      points: estimate?.points ?? null,
      points_remaining: remaining === Infinity ? null : remaining,
      allowed: reason === null,
      reason,
      bounded: estimate?.isBounded ?? false,
      fields: estimate === null ? [] : estimates.dearest(request, DEAREST_FIELDS),
    };
  }

  return async (
    res: HttpResponse,
    { operations, requests }: ReadRequest,
    caller: EstimatedCaller,
    requestId: string,
  ): Promise<void> => {
    const { payer } = caller;
    // Missing live counters are rebuilt by the first attempt.
    const left =
      typeof payer === 'string' ? null : ((await readPointsLeft(payer)) ?? (await readPointsLeft(payer)));
    const answers: { extensions: { estimate: ReturnType<typeof estimateOf> } }[] = [];
    for (const request of requests) {
      const asked = { request, type: operations.type };
      answers.push({ extensions: { estimate: estimateOf(asked, caller, left) } });
      // A batch of long documents must hold no others up.
      if (requests.length > 1) await setImmediate();
    }
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

/** Why a call of so many points would be refused now. Reservations of calls in flight count, if points are strict. */
function refusalOf(
  estimate: Estimate | null,
  { payer, type, perMinute }: { payer: PayerEntitlement; type: OperationType; perMinute: number },
  left: PointsLeft | null,
): ErrorCode | null {
  const { callRules, reservesPoints } = payer;
  if (estimate !== null) {
    if (estimate.points > (callRules?.points_per_call_limit ?? Infinity)) return 'call_too_expensive';
    const unlimited = whyUnlimited(payer, type, estimate);
    if (unlimited !== null) return unlimited.code;
  }
  if (left === null) return null;
  const wanted = reservesPoints && estimate !== null ? estimate.points + perMinute : 1;
  if (left.ofPayer < wanted) return 'points_limit_exceeded';
  if (left.ofBudgets < wanted) return 'budget_exceeded';
  return left.unreserved < wanted ? 'points_reserved' : null;
}
