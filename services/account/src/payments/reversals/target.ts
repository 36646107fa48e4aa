/** What Stripe says of the money of a purchase now, in the minor unit. Sums, not changes: their order doesn't matter. */
export type Reversed = {
  paid: number;
  /** The sum of refunds that haven't failed. */
  refunded: number;
  /** Of `refunded`, so far as the bank hasn't taken it. */
  pending: number;
  /** Of disputes that were lost. */
  lost: number;
  /** A dispute is open. */
  isDisputed: boolean;
};

/**
 * How many of a purchase's points the account shall not have: all while it is disputed, otherwise the share of the money
 * that went back, rounded down. `frozen` of them could come back.
 */
export function targetOf(points: number, reversed: Reversed): { target: number; frozen: number } {
  const { paid, refunded, pending, lost, isDisputed } = reversed;
  const target = isDisputed ? points : shareOf(points, refunded + lost, paid);
  return { target, frozen: target - shareOf(points, refunded - pending + lost, paid) };
}

/** A refund and a dispute of one payment never take more than all. */
function shareOf(points: number, amount: number, paid: number): number {
  return Number((BigInt(points) * BigInt(Math.min(amount, paid))) / BigInt(paid));
}

/** A grant of the purchase. */
export type Holding = {
  credit_id: number;
  /** By the last settlement. */
  points_remaining: number;
  /** It is being voided, and how much was left isn't known yet. */
  isVoiding: boolean;
  /** Neither voided nor expired. */
  isUsable: boolean;
};

export type Step =
  | { kind: 'wait' }
  | { kind: 'void'; credit_ids: number[] }
  | { kind: 'return'; points: number }
  | { kind: 'done'; shortfall: number };

/**
 * What to do next so that `target` points are taken. Grants can only be voided whole, so what a void took too much is
 * granted again. `taken`: by voids, less what was granted again.
 */
export function nextStep({
  target,
  taken,
  holdings,
}: {
  target: number;
  taken: number;
  holdings: readonly Holding[];
}): Step {
  if (holdings.some(({ isVoiding }) => isVoiding)) return { kind: 'wait' };
  if (taken > target) return { kind: 'return', points: taken - target };
  const usable = holdings.filter(({ isUsable, points_remaining }) => isUsable && points_remaining > 0);
  if (taken < target && usable.length > 0) {
    return { kind: 'void', credit_ids: usable.map(({ credit_id }) => credit_id) };
  }
  return { kind: 'done', shortfall: target - taken };
}
