import type { Credit } from './credit.ts';
import type { Movement } from './movement.ts';
import { demandOf } from './settlement.ts';

/** A grant, and for further points the only period whose use may take them. */
export type CheckedCredit = Credit & { overage_period_id: number | null };

/** An instant at which usable points change, with what was settled there. */
export type CheckedCut = {
  at: Date;
  /** In µs, as two steps can be made within a millisecond; null until usage before it is settled. */
  resolved_us: number | null;
  /** What open periods had used by then. `included`: of the plan of then; of both, if that changed about then. */
  points: { period_id: number; points: number; included: (number | null)[] }[];
};

export const CUT_FAULTS = {
  cut_missing: 'A grant starts, expires or is voided at an instant that was not recorded.',
  cut_points:
    'By a recorded instant, more was taken for a period than it had used above its included points.',
  overuse: 'Usage of a period was left uncovered while a grant that it could use had points left.',
  not_ended: 'A grant kept points beyond its end.',
} as const;

export type CutDifference = {
  fault: keyof typeof CUT_FAULTS;
  movement_id: number | null;
  credit_id: number | null;
  period_id: number | null;
  expected: number;
  found: number;
};

/** What of a period's use no grant covered: at least and at most, if its plan changed about then. */
export type Overuse = { least: number; most: number };

type State = {
  /** Those with points left, and those that were ended at the cut. */
  credits: ReadonlySet<CheckedCredit>;
  left: ReadonlyMap<number, number>;
  usedOf: ReadonlyMap<number, number>;
  overuseOf: Map<number, Overuse>;
  /** Those that are dated at the cut. */
  own: readonly Movement[];
};

/**
 * Whether usage up to a cut was settled as the points say that were recorded there: no more than was used, and no less
 * while there was a point left. `points`: of periods that were open. Call it with the state right after the step.
 */
export function cutFault(
  { at, points }: Pick<CheckedCut, 'at' | 'points'>,
  { credits, left, usedOf, overuseOf, own }: State,
): CutDifference | null {
  const leftBefore = ({ credit_id }: CheckedCredit) =>
    (left.get(credit_id) ?? 0) + sumOf(own.filter((moved) => moved.credit_id === credit_id && isEnd(moved)));
  for (const { period_id, points: counted, included } of points) {
    const demands = included.map((limit) => demandOf({ included: limit, points: counted }));
    const [fewest, most] = [Math.min(...demands), Math.max(...demands)];
    const before = overuseOf.get(period_id) ?? { least: 0, most: 0 };
    const used = usedOf.get(period_id) ?? 0;
    const ofPeriod = own.filter((moved) => moved.period_id === period_id);
    const last = ofPeriod.findLast(({ to_ledger }) => to_ledger === 'used');
    if (last !== undefined && used + before.least > most) {
      const { movement_id, credit_id } = last;
      return {
        fault: 'cut_points',
        movement_id,
        credit_id,
        period_id,
        expected: most,
        found: used + before.least,
      };
    }
    const uncovered = fewest - used - before.most;
    const unused =
      uncovered <= 0
        ? undefined
        : [...credits].find((credit) => isUsableFor(credit, period_id, at) && leftBefore(credit) > 0);
    if (unused !== undefined) {
      const { credit_id } = unused;
      const movement_id = own.find((moved) => moved.credit_id === credit_id)?.movement_id ?? null;
      const expected = Math.min(uncovered, leftBefore(unused));
      return { fault: 'overuse', movement_id, credit_id, period_id, expected, found: 0 };
    }
    overuseOf.set(period_id, {
      least: Math.max(before.least, fewest - used),
      most: Math.max(before.most, most - used),
    });
  }
  const kept = [...credits].find(
    (credit) => endMs(credit) === at.getTime() && (left.get(credit.credit_id) ?? 0) > 0,
  );
  if (kept === undefined) return null;
  const { credit_id } = kept;
  return {
    fault: 'not_ended',
    movement_id: null,
    credit_id,
    period_id: null,
    expected: 0,
    found: left.get(credit_id) ?? 0,
  };
}

/** A trigger records the instants of grants. */
export function missingCut(
  credits: readonly CheckedCredit[],
  cuts: readonly Pick<CheckedCut, 'at'>[],
): CutDifference | null {
  const recorded = new Set(cuts.map(({ at }) => at.getTime()));
  for (const { credit_id, usable_from, expires_at, void_requested_at } of credits) {
    const isMissing = [usable_from, expires_at, void_requested_at].some(
      (instant) => instant !== null && !recorded.has(instant.getTime()),
    );
    if (isMissing)
      return { fault: 'cut_missing', movement_id: null, credit_id, period_id: null, expected: 1, found: 0 };
  }
  return null;
}

/** All the time since the cut before: at each instant at which this changes there is one. */
function isUsableFor(credit: CheckedCredit, periodId: number, at: Date): boolean {
  return isOfPeriod(credit, periodId) && credit.usable_from < at && endMs(credit) >= at.getTime();
}

function isOfPeriod({ overage_period_id }: CheckedCredit, periodId: number): boolean {
  return overage_period_id === null || overage_period_id === periodId;
}

function endMs({ expires_at, void_requested_at }: Credit): number {
  return Math.min(expires_at?.getTime() ?? Infinity, void_requested_at?.getTime() ?? Infinity);
}

function isEnd({ from_ledger, to_ledger }: Movement): boolean {
  return from_ledger === 'grant' && to_ledger !== 'used';
}

function sumOf(movements: readonly Movement[]): number {
  return movements.reduce((sum, { points }) => sum + points, 0);
}

/** A closed period with overuse, and the fewest points that each grant has had since that it could use all the time. */
export type WatchedClosing = { period_id: number; overuse_points: number; least: Map<number, number> };

/**
 * Call it right after the closing. `settledMs`: the last instant at which usage was settled before it. Only what came later
 * was left to the closing, so that a grant could be used for all of it if it started by then.
 */
export function watchClosing(
  { period_id, overuse_points, ended_at }: { period_id: number; overuse_points: number; ended_at: Date },
  {
    credits,
    left,
    settledMs,
  }: { credits: readonly CheckedCredit[]; left: WatchedClosing['least']; settledMs: number },
): WatchedClosing {
  // Those that have ended lose what is left: the least is 0 then.
  const startedBefore = new Date(Math.max(ended_at.getTime(), settledMs + 1));
  const usable = credits.filter(
    (credit) =>
      isOfPeriod(credit, period_id) &&
      credit.usable_from < startedBefore &&
      endMs(credit) >= ended_at.getTime(),
  );
  return {
    period_id,
    overuse_points,
    least: new Map(usable.map(({ credit_id }) => [credit_id, left.get(credit_id) ?? 0])),
  };
}

/** More overuse than before the closing means that all usable grants were used up once: by the closing, or a correction. */
export function closingFault(
  watched: readonly WatchedClosing[],
  overuseOf: ReadonlyMap<number, Overuse>,
): CutDifference | null {
  for (const { period_id, overuse_points, least } of watched) {
    const expected = overuseOf.get(period_id)?.most ?? 0;
    const unused = [...least].find(([, points]) => points > 0);
    if (unused === undefined || overuse_points <= expected) continue;
    const [credit_id] = unused;
    return { fault: 'overuse', movement_id: null, credit_id, period_id, expected, found: overuse_points };
  }
  return null;
}
