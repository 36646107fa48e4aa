import { inOrderOfUse } from './allocation.ts';
import { CUT_FAULTS, closingFault, cutFault, missingCut, watchClosing } from './check-cuts.ts';
import type { CheckedCredit, CheckedCut, Overuse, WatchedClosing } from './check-cuts.ts';
import type { Credit } from './credit.ts';
import type { Movement } from './movement.ts';
import { demandOf } from './settlement.ts';

/**
 * All that an account's credits are recomputed from; all of it is kept for good. Movements are in the order in which they
 * were written, cuts in that in which they were resolved.
 */
export type AccountLedger = {
  credits: readonly CheckedCredit[];
  movements: readonly WrittenMovement[];
  cuts: readonly CheckedCut[];
  periods: readonly SettledPeriod[];
};

/** `written_us`: in µs, as `resolved_us` of cuts. */
type WrittenMovement = Movement & { written_us: number };

export type SettledPeriod = {
  period_id: number;
  /** Null for a plan that doesn't limit points. */
  included: number | null;
  settled_points: number;
  overuse_points: number;
  ended_at: Date;
  /** In µs. Both are null while the period is open. */
  closed_us: number | null;
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
  ...CUT_FAULTS,
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

/**
 * The first difference between an account's movements and what follows from its grants, cuts and periods; null if none.
 * Movements are replayed with the cuts and closings between them.
 */
export function checkLedger({ credits, movements, cuts, periods }: AccountLedger): Difference | null {
  const replay = createReplay({ credits, movements, cuts, periods });
  for (const movement of movements) {
    const fault = replay.settleUntil(movement.written_us) ?? replay.move(movement);
    if (fault !== null) return fault;
  }
  const fault = replay.settleUntil(Infinity) ?? missingCut(credits, cuts);
  if (fault !== null) return fault;
  for (const { credit_id, points_remaining } of credits) {
    const expected = replay.left.get(credit_id) ?? 0;
    if (expected !== points_remaining) {
      const last = movements.findLast((movement) => movement.credit_id === credit_id);
      const of = { movement_id: last?.movement_id ?? null, credit_id, period_id: null };
      return { fault: 'points_remaining', ...of, expected, found: points_remaining };
    }
  }
  for (const period of periods) {
    const of = periodFault(period, replay.usedOf.get(period.period_id) ?? 0);
    if (of !== null) return of;
  }
  return replay.overuseFault();
}

function createReplay({ credits, cuts, periods }: AccountLedger) {
  const rankOf = new Map(inOrderOfUse(credits).map((credit, rank) => [credit, rank]));
  const creditOf = new Map(credits.map((credit) => [credit.credit_id, credit]));
  const closedUs = new Map(periods.map(({ period_id, closed_us }) => [period_id, closed_us ?? Infinity]));
  const left = new Map<number, number>();
  /** Those that have points left: few, whatever an account has had. */
  const live = new Set<CheckedCredit>();
  const usedOf = new Map<number, number>();
  const overuseOf = new Map<number, Overuse>();
  const datedAt = new Map<number, Movement[]>();
  const watched: WatchedClosing[] = [];
  const steps = [
    ...cuts.flatMap((cut) => (cut.resolved_us === null ? [] : [{ us: cut.resolved_us, cut }])),
    // Without overuse there is nothing to watch for.
    ...periods.flatMap((period) =>
      period.closed_us === null || period.overuse_points === 0 ? [] : [{ us: period.closed_us, period }],
    ),
  ].sort((one, other) => one.us - other.us);
  let next = 0;
  let settledMs = -Infinity;

  function settle(step: (typeof steps)[number]): Difference | null {
    if ('period' in step) {
      watched.push(watchClosing(step.period, { credits, left, settledMs }));
      return null;
    }
    const { at, points } = step.cut;
    settledMs = Math.max(settledMs, at.getTime());
    const open = points.filter(({ period_id }) => (closedUs.get(period_id) ?? Infinity) > step.us);
    const own = datedAt.get(at.getTime()) ?? [];
    const ended = own.flatMap(({ credit_id }) => creditOf.get(credit_id) ?? []);
    return cutFault(
      { at, points: open },
      { credits: new Set([...live, ...ended]), left, usedOf, overuseOf, own },
    );
  }

  return {
    left,
    usedOf,
    /** What was settled before then. */
    settleUntil: (us: number): Difference | null => {
      for (let step = steps[next]; step !== undefined && step.us < us; step = steps[next]) {
        next += 1;
        const fault = settle(step);
        if (fault !== null) return fault;
      }
      return null;
    },
    move: (movement: Movement): Difference | null => {
      const { credit_id, period_id, points, reason, at } = movement;
      const credit = creditOf.get(credit_id);
      if (credit === undefined) return null;
      const fault = movementFault(movement, credit, { rankOf, live, left });
      if (fault !== null) return fault;
      const rest = (left.get(credit_id) ?? 0) + signed(movement, 'grant');
      left.set(credit_id, rest);
      if (rest > 0) live.add(credit);
      else live.delete(credit);
      for (const { least } of watched) {
        if (rest < (least.get(credit_id) ?? 0)) least.set(credit_id, rest);
      }
      const dated = datedAt.get(at.getTime());
      if (dated === undefined) datedAt.set(at.getTime(), [movement]);
      else dated.push(movement);
      if (period_id === null) return null;
      usedOf.set(period_id, (usedOf.get(period_id) ?? 0) + signed(movement, 'used'));
      const overuse = overuseOf.get(period_id);
      if (reason === 'overuse' && overuse !== undefined) {
        const [least, most] = [overuse.least - points, overuse.most - points];
        overuseOf.set(period_id, { least: Math.max(0, least), most: Math.max(0, most) });
      }
      return null;
    },
    overuseFault: () => closingFault(watched, overuseOf),
  };
}

type Replayed = {
  rankOf: ReadonlyMap<Credit, number>;
  live: ReadonlySet<Credit>;
  left: ReadonlyMap<number, number>;
};

function movementFault(movement: Movement, credit: Credit, replayed: Replayed): Difference | null {
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
  const before = replayed.left.get(credit_id) ?? 0;
  const after = before + signed(movement, 'grant');
  if (from_ledger === 'issued' && points !== credit.points) return differs('issued', credit.points, points);
  if (after < 0 || after > credit.points) return differs('balance', before, points);
  if (to_ledger === 'used') {
    if (!wasUsable(credit, movement)) return differs('not_usable', 0, points);
    if (!OUT_OF_ORDER.has(movement.reason) && isEarlierUnused(movement, credit, replayed))
      return differs('order_of_use', 0, points);
    return null;
  }
  const isRest = to_ledger !== 'grant' && !IN_PART.has(movement.reason);
  if (isRest && after > 0) return differs('rest', before, points);
  return null;
}

/** Whether a grant that comes before `credit` in the order of use could be used and has points left. */
function isEarlierUnused(movement: Movement, credit: Credit, { rankOf, live }: Replayed): boolean {
  const rank = rankOf.get(credit) ?? 0;
  return [...live].some(
    (other) =>
      (rankOf.get(other) ?? 0) < rank &&
      // How far a closing had counted isn't stated, but at least to its date: a grant that started later needn't be used.
      other.usable_from < movement.at &&
      wasUsable(other, movement),
  );
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
