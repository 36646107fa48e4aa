import type { Credits } from '@tollgate/contracts/entitlement';
import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';

/** A payer's credits, as scripts take them. One object while the entitlement is kept. */
export type PayerCredits = {
  /** Ended periods of the payer that aren't closed: they use the same credits as the current one. */
  openPeriodIds: readonly number[];
  /** When grants begin and end to be usable: Unix times in ms by Redis' clock, ascending. */
  instantsMs: readonly number[];
  /** The argument of scripts that contain LUA_POINTS_LEFT. */
  argument: string;
};

/**
 * Two lines of JSON, of which the second is needed only once an instant has passed:
 * - `covered`: points of the current and each open period that use no credits; `usable`: points of the grants that are
 *   usable before the first instant; `instants`: in ascending order.
 * - the grants in order of use: points, usable from, usable until.
 */
export function payerCredits({ included, settled, open_periods, grants }: Credits): PayerCredits {
  const covered = [{ included, settled }, ...open_periods].map((period) =>
    Math.min(period.included + period.settled, MAX_TOTAL),
  );
  const usable = grants.reduce((sum, { points, from_ms }) => sum + (from_ms === null ? points : 0), 0);
  const instantsMs = [
    ...new Set(grants.flatMap(({ from_ms, until_ms }) => [from_ms, until_ms]).filter((ms) => ms !== null)),
  ].sort((one, other) => one - other);
  const summary = { covered, usable: Math.min(usable, MAX_TOTAL), instants: instantsMs.join(' ') };
  const spans = grants.map(({ points, from_ms, until_ms }) => [points, from_ms ?? 0, until_ms ?? MAX_TOTAL]);
  return {
    openPeriodIds: open_periods.map(({ period_id }) => period_id),
    instantsMs,
    argument: `${JSON.stringify(summary)}\n${JSON.stringify(spans)}`,
  };
}
