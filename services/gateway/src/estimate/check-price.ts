import { Problem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../ledger/principal.ts';
import { ofOperation } from '../operation-reader/batch-index.ts';
import type { OperationRequest, Operations } from '../operation-reader/operation-reader.ts';
import type { OperationType } from '../operation-reader/document-types.ts';
import type { Estimates } from './estimates.ts';

/** How many fields a refusal names. */
const DEAREST = 3;

type Priced = Pick<PayerEntitlement, 'callRules' | 'reservesPoints'>;

/** What is asked for: `type` is that of all operations. */
type Asked = Pick<Operations, 'type'> & { requests: readonly OperationRequest[] };

/** Whether a payer's operations must have a price. */
export function needsPrice({ callRules, reservesPoints }: Priced): boolean {
  return reservesPoints || callRules?.points_per_call_limit !== undefined;
}

/**
 * What the operations of a payer that needs it cost at most together. A promise only if one has no price: the schema
 * may have changed, so it is read again first, and `prepare` called for operations that were prepared.
 * @throws {Problem} call_too_expensive if one would cost more than the plan allows; document_invalid, price_unknown or
 * service_unavailable without a price. Also in the promise.
 */
export type CheckPrice = (
  payer: Priced,
  asked: Asked,
  prepare?: () => Promise<void>,
) => number | Promise<number>;

export function createCheckPrice(
  estimates: Pick<Estimates, 'ofRequest' | 'dearest' | 'whyUnpriced' | 'reload'>,
): CheckPrice {
  /** Null if one of them has no price. */
  function sumOf(payer: Priced, { type, requests }: Asked): number | null {
    const limit = payer.callRules?.points_per_call_limit ?? Infinity;
    let sum = 0;
    for (const [index, request] of requests.entries()) {
      const estimate = estimates.ofRequest(request);
      if (estimate === null) return null;
      if (estimate.points > limit)
        throw inBatch(requests, index, tooExpensive(limit, request, estimate.points));
      const unlimited = whyUnlimited(payer, type, estimate);
      if (unlimited !== null) throw inBatch(requests, index, unlimited);
      sum += estimate.points;
    }
    return sum;
  }

  function tooExpensive(limit: number, request: OperationRequest, points: number): Problem {
    return new Problem('call_too_expensive', {
      detail: `The operation would cost up to ${String(points)} points; the plan allows ${String(limit)} per call.`,
      extensions: { limit, estimate: points, fields: estimates.dearest(request, DEAREST) },
    });
  }

  async function sumByNewSchema(...[payer, asked, prepare]: Parameters<CheckPrice>): Promise<number> {
    const { requests } = asked;
    await estimates.reload();
    await prepare?.();
    const sum = sumOf(payer, asked);
    if (sum !== null) return sum;
    const index = requests.findIndex((request) => estimates.ofRequest(request) === null);
    const unpriced = requests[index];
    if (unpriced === undefined) throw new Problem('service_unavailable');
    throw inBatch(requests, index, estimates.whyUnpriced(unpriced));
  }

  return (payer, asked, prepare) => sumOf(payer, asked) ?? sumByNewSchema(payer, asked, prepare);
}

/** Why an operation may cost more than its estimate, which strict points can't admit; null if it may not. */
export function whyUnlimited(
  { reservesPoints }: Pick<PayerEntitlement, 'reservesPoints'>,
  type: OperationType,
  { isBounded }: { isBounded: boolean },
): Problem | null {
  if (!reservesPoints) return null;
  if (!isBounded)
    return new Problem('price_unknown', {
      detail: 'Nothing tells how long a list of the operation can be, so it has no highest price.',
    });
  if (type !== 'unknown') return null;
  return new Problem('price_unknown', {
    detail: 'Operations of several types could be meant; `operationName` must name one.',
  });
}

function inBatch(requests: readonly OperationRequest[], index: number, problem: Problem): unknown {
  return requests.length > 1 ? ofOperation(problem, index) : problem;
}
