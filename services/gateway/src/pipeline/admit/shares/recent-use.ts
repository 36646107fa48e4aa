import type { Need } from '../../../ledger/share-script.ts';

/** What a payer used through this gateway lately: the most of a few intervals. */
export type RecentUse = {
  /** `slots`: how many of the share's are in use; `units`: of the rate. */
  countCall: (slots: number, units: number) => void;
  /** The argument of a caller's budgets. */
  countBudgets: (argument: string) => void;
  countUsage: (points: number, trafficBytes: number) => void;
  /** Ends an interval; returns its calls. */
  endInterval: () => number;
  /** Calls of an interval. */
  calls: () => number;
  /** The same, averaged over the last half second or so. */
  averageCalls: () => number;
  need: () => Need;
};

/** How fast a peak is forgotten, per interval. */
const DECAY = 0.8;

/** What an interval counts in the average. */
const WEIGHT = 0.2;

/** Until a share is renewed, late renewals included. */
const INTERVALS = 4;

/** Smaller shares aren't worth their renewals. A payer whose limits allow no more has none. */
const MIN_CALLS = 64;
const MIN_SLOTS = 32;

/** For how many intervals a caller with budgets is remembered, and how many of them: the script checks each. */
const BUDGETS_INTERVALS = 10;
const MAX_BUDGETS = 32;

export function createRecentUse(): RecentUse {
  const now = { calls: 0, slots: 0, points: 0, trafficBytes: 0 };
  const peak = { calls: 0, slots: 0, points: 0, trafficBytes: 0 };
  let average = 0;
  /** Intervals since a call, the latest callers last. */
  const budgets = new Map<string, number>();
  const decayed = (past: number, current: number) => Math.max(current, past * DECAY);
  const timesIntervals = (perInterval: number) => Math.ceil(INTERVALS * perInterval);

  return {
    countCall: (slots, units) => {
      now.calls += units;
      now.slots = Math.max(now.slots, slots);
    },
    countBudgets: (argument) => {
      if (budgets.get(argument) === 0) return;
      budgets.delete(argument);
      budgets.set(argument, 0);
    },
    countUsage: (points, trafficBytes) => {
      now.points += points;
      now.trafficBytes += trafficBytes;
    },
    endInterval: () => {
      const { calls } = now;
      average += WEIGHT * (calls - average);
      peak.calls = decayed(peak.calls, calls);
      peak.slots = decayed(peak.slots, now.slots);
      peak.points = decayed(peak.points, now.points);
      peak.trafficBytes = decayed(peak.trafficBytes, now.trafficBytes);
      Object.assign(now, { calls: 0, slots: 0, points: 0, trafficBytes: 0 });
      for (const [argument, intervals] of budgets) {
        if (intervals < BUDGETS_INTERVALS) budgets.set(argument, intervals + 1);
        else budgets.delete(argument);
      }
      return calls;
    },
    calls: () => Math.max(peak.calls, now.calls),
    averageCalls: () => average,
    need: () => ({
      calls: Math.max(MIN_CALLS, timesIntervals(Math.max(peak.calls, now.calls))),
      slots: Math.max(MIN_SLOTS, Math.ceil(2 * Math.max(peak.slots, now.slots))),
      points: timesIntervals(Math.max(peak.points, now.points)),
      trafficBytes: timesIntervals(Math.max(peak.trafficBytes, now.trafficBytes)),
      budgets: [...budgets.keys()].slice(-MAX_BUDGETS),
    }),
  };
}
