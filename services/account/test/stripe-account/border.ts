export type Border = {
  billing_interval: 'month' | 'year';
  /** When the subscription begins by its test clock, and when it is renewed by every clock, in seconds. */
  startedAt: number;
  renewsAt: number;
};

/**
 * A subscription that is renewed at that time began one interval before: a month, or a year where the month before has no
 * such day. 29 February isn't one of these.
 */
export function borderAt(renewsAt: number): Border {
  const monthBefore = new Date(renewsAt * 1_000);
  const day = monthBefore.getUTCDate();
  monthBefore.setUTCMonth(monthBefore.getUTCMonth() - 1);
  if (monthBefore.getUTCDate() === day) {
    return { billing_interval: 'month', startedAt: secondsOf(monthBefore), renewsAt };
  }
  const yearBefore = new Date(renewsAt * 1_000);
  yearBefore.setUTCFullYear(yearBefore.getUTCFullYear() - 1);
  return { billing_interval: 'year', startedAt: secondsOf(yearBefore), renewsAt };
}

function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}
