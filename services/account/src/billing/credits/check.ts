import { inOrderOfUse } from './allocation.ts';
import type { Credit } from './credit.ts';
import type { Movement } from './movement.ts';
import { demandOf } from './settlement.ts';

/** All that an account's credits are recomputed from. Movements are in the order in which they were written. */
export type AccountLedger = {
  credits: readonly Credit[];
  movements: readonly Movement[];
  periods: readonly SettledPeriod[];
};

export type SettledPeriod = {
  period_id: number;
  /** Null for a plan that doesn't limit points. */
  included: number | null;
  settled_points: number;
  overuse_points: number;
  /** Null while the period is open. */
  closed_points: number | null;
  /** What is counted in it; null while a correction waits. */
  counted_points: number | null;
};

export const FAULTS = {
  issued: 'A grant was issued with other points than it has.',
  balance: 'A movement took more than was left, or brought back more than was granted.',
  not_usable: 'Usage was taken from a grant outside its time.',
  order_of_use: 'Usage was taken from a grant while an earlier one in the order of use had points left.',
  rest: 'A grant that ended kept points.',
  points_remaining: "A grant's points_remaining isn't the balance of its movements.",
  settled_points: "What a period has settled isn't what was taken for it and its overuse.",
  closed_points: "What a closed period has settled isn't what it used above its included points.",
  counted_points: 'A closed period was settled with other points than are counted in it.',
} as const;

/** A carry-over that was too much is taken back in part, and the last points of a grant can end before it. */
const IN_PART: ReadonlySet<string> = new Set(['carry_over_corrected', 'reduced']);

/** A correction takes from the grants of its period, which others may have joined since; only purchases pay overuse. */
const OUT_OF_ORDER: ReadonlySet<string> = new Set(['usage_corrected', 'overuse']);

export type Difference = {
  fault: keyof typeof FAULTS;
  /** The first movement that differs; null where none does. */
  movement_id: number | null;
  credit_id: number | null;
  period_id: number | null;
  expected: number;
  found: number;
};

/** The first difference between an account's movements and what follows from its grants and periods; null if none. */
export function checkLedger({ credits, movements, periods }: AccountLedger): Difference | null {
  const inOrder = inOrderOfUse(credits);
  const creditOf = new Map(credits.map((credit) => [credit.credit_id, credit]));
  const left = new Map<number, number>();
  const usedOf = new Map<number, number>();
  for (const movement of movements) {
    const credit = creditOf.get(movement.credit_id);
    const fault = credit === undefined ? null : movementFault(movement, credit, inOrder, left);
    if (fault !== null) return fault;
    const { credit_id, period_id } = movement;
    left.set(credit_id, (left.get(credit_id) ?? 0) + signed(movement, 'grant'));
    if (period_id !== null) usedOf.set(period_id, (usedOf.get(period_id) ?? 0) + signed(movement, 'used'));
  }
  for (const { credit_id, points_remaining } of credits) {
    const expected = left.get(credit_id) ?? 0;
    if (expected !== points_remaining) {
      const last = movements.findLast((movement) => movement.credit_id === credit_id);
      const of = { movement_id: last?.movement_id ?? null, credit_id, period_id: null };
      return { fault: 'points_remaining', ...of, expected, found: points_remaining };
    }
  }
  for (const period of periods) {
    const fault = periodFault(period, usedOf.get(period.period_id) ?? 0);
    if (fault !== null) return fault;
  }
  return null;
}

function movementFault(
  movement: Movement,
  credit: Credit,
  inOrder: readonly Credit[],
  left: ReadonlyMap<number, number>,
): Difference | null {
  const { movement_id, period_id, from_ledger, to_ledger, points } = movement;
  const { credit_id } = credit;
  const differs = (fault: Difference['fault'], expected: number, found: number): Difference => ({
    fault,
    movement_id,
    credit_id,
    period_id,
    expected,
    found,
  });
  const before = left.get(credit_id) ?? 0;
  const after = before + signed(movement, 'grant');
  if (from_ledger === 'issued' && points !== credit.points) return differs('issued', credit.points, points);
  if (after < 0 || after > credit.points) return differs('balance', before, points);
  if (to_ledger === 'used') {
    if (!wasUsable(credit, movement)) return differs('not_usable', 0, points);
    if (!OUT_OF_ORDER.has(movement.reason) && isEarlierUnused(movement, credit, inOrder, left))
      return differs('order_of_use', 0, points);
    return null;
  }
  const isRest = to_ledger !== 'grant' && !IN_PART.has(movement.reason);
  if (isRest && after > 0) return differs('rest', before, points);
  return null;
}

/** Whether a grant that comes before `credit` in the order of use could be used and has points left. */
function isEarlierUnused(
  movement: Movement,
  credit: Credit,
  inOrder: readonly Credit[],
  left: ReadonlyMap<number, number>,
): boolean {
  for (const other of inOrder) {
    if (other === credit) return false;
    // How far a closing had counted isn't stated, but at least to its date: a grant that started later needn't be used.
    if (other.usable_from >= movement.at) continue;
    if ((left.get(other.credit_id) ?? 0) > 0 && wasUsable(other, movement)) return true;
  }
  return false;
}

function periodFault(period: SettledPeriod, used: number): Difference | null {
  const { period_id, settled_points, overuse_points, closed_points, included } = period;
  const of = { movement_id: null, credit_id: null, period_id };
  const expected = used + overuse_points;
  if (settled_points !== expected) return { fault: 'settled_points', ...of, expected, found: settled_points };
  if (closed_points === null) return null;
  const demand = demandOf({ included, points: closed_points });
  if (settled_points !== demand) {
    return { fault: 'closed_points', ...of, expected: demand, found: settled_points };
  }
  const { counted_points } = period;
  if (counted_points === null || counted_points === closed_points) return null;
  return { fault: 'counted_points', ...of, expected: counted_points, found: closed_points };
}

/**
 * A movement is dated by the cut up to which it settles usage, so a grant that starts there comes too late. Closings and
 * corrections are dated by the period and take from the grants of when they are made.
 */
function wasUsable(credit: Credit, { reason, at, created_at }: Movement): boolean {
  const { usable_from, expires_at, void_requested_at } = credit;
  const hasStarted = reason === 'usage' ? usable_from < at : usable_from <= created_at;
  return hasStarted && (expires_at ?? at) >= at && (void_requested_at ?? at) >= at;
}

function signed({ from_ledger, to_ledger, points }: Movement, ledger: 'grant' | 'used'): number {
  if (to_ledger === ledger) return points;
  return from_ledger === ledger ? -points : 0;
}
