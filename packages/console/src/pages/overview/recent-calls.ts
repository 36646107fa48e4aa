import type { Refusals } from './queries.ts';

type Hour = { started_at: string; calls: number };

/** Above this share of calls, the status says so. */
const NOTABLE_SHARE = 0.01;

/** This hour and the one before, so that the first minutes of an hour say something. */
const WINDOW_HOURS = 2;

/** Calls since midnight UTC, from hours that reach back a day. */
export function callsToday(hours: readonly Hour[]): number {
  const today = hours.at(-1)?.started_at.slice(0, 10);
  return sum(hours.filter(({ started_at }) => started_at.slice(0, 10) === today));
}

/** Whether more than 1% of the calls of this hour and the one before were refused or failed. */
export function areSomeRefused(hours: readonly Hour[], { buckets }: Pick<Refusals, 'buckets'>): boolean {
  const refused = sum(buckets.slice(-WINDOW_HOURS));
  return refused > NOTABLE_SHARE * (refused + sum(hours.slice(-WINDOW_HOURS)));
}

const sum = (hours: readonly Pick<Hour, 'calls'>[]) => hours.reduce((total, { calls }) => total + calls, 0);
