import type { CallRules } from '@tollgate/contracts/entitlement';
import { Problem } from '@tollgate/http/problem';
import type { OperationRequest, ReadRequest } from '../operation-reader/operation-reader.ts';
import type { Estimates } from './estimates.ts';

/** How many fields a refusal names. */
const DEAREST = 3;

/**
 * Refuses operations that would cost more than the plan allows for one, and those without a price. A promise only if
 * one has no price: the schema may have changed, so it is read again first.
 * @throws {Problem} call_too_expensive; document_invalid, price_unknown or service_unavailable without a price. Also in
 * the promise.
 */
export type CheckPrice = (rules: CallRules, requests: ReadRequest['requests']) => Promise<void> | undefined;

export function createCheckPrice(
  estimates: Pick<Estimates, 'ofRequest' | 'dearest' | 'whyUnpriced' | 'reload'>,
): CheckPrice {
  function assertCheap(limit: number, request: OperationRequest, points: number): void {
    if (points <= limit) return;
    throw new Problem('call_too_expensive', {
      detail: `The operation would cost up to ${String(points)} points; the plan allows ${String(limit)} per call.`,
      extensions: { limit, estimate: points, fields: estimates.dearest(request, DEAREST) },
    });
  }

  async function checkReloaded(limit: number, requests: readonly OperationRequest[]): Promise<void> {
    await estimates.reload();
    for (const request of requests) {
      const estimate = estimates.ofRequest(request);
      if (estimate === null) throw estimates.whyUnpriced(request);
      assertCheap(limit, request, estimate.points);
    }
  }

  return ({ points_per_call_limit: limit }, requests) => {
    if (limit === undefined) return undefined;
    for (const request of requests) {
      const estimate = estimates.ofRequest(request);
      if (estimate === null) return checkReloaded(limit, requests);
      assertCheap(limit, request, estimate.points);
    }
    return undefined;
  };
}
