import { DURATION_BUCKETS } from '@tollgate/contracts/durations';
import type { UsageEvent, UsedOperation } from '@tollgate/contracts/usage-stream';

const DAY_MS = 86_400_000;

/** Of usage whose operation isn't known, and of operations that are counted together. */
const OTHERS = { hash: '', name: '' } as const;

export type OperationRow = Pick<UsageEvent, 'payer_id' | 'account_id' | 'application_id' | 'api_version'> & {
  /** UTC, such as 2026-07-01. */
  day: string;
  hash: string;
  name: string;
  points: number;
  requests: number;
  errors: number;
  durations: number[];
  compared_requests: number;
  compared_points: number;
  estimated_points: number;
  exceeding_requests: number;
  excess_points: number;
};

/** The rows together hold the points and requests of the events, whatever these state of their operations. */
export function sumOperations(events: readonly UsageEvent[]): OperationRow[] {
  const rows = new Map<string, OperationRow>();
  const dayOf = rememberDays();
  const add = (event: UsageEvent, used: UsedOperation): void => {
    const { payer_id, account_id, application_id, api_version } = event;
    const day = dayOf(event.at_ms);
    const { hash, name } = used.hash === null ? OTHERS : { hash: used.hash, name: used.name ?? '' };
    const key = `${String(payer_id)} ${String(account_id)} ${day} ${String(application_id)} ${api_version} ${hash} ${name}`;
    let row = rows.get(key);
    if (row === undefined) {
      const ids = { payer_id, account_id, day, application_id, api_version, hash, name };
      row = { ...ids, points: 0, requests: 0, errors: 0, durations: noDurations(), ...NOTHING_COMPARED };
      rows.set(key, row);
    }
    row.points += used.points;
    row.requests += used.requests;
    row.errors += used.errors;
    for (const [bucket, times] of used.durations)
      row.durations[bucket] = (row.durations[bucket] ?? 0) + times;
    // Of the others, no weight could be told.
    if (used.compared === undefined || hash === OTHERS.hash) return;
    row.compared_requests += used.compared.requests;
    row.compared_points += used.compared.points;
    row.estimated_points += used.compared.estimated_points;
    row.exceeding_requests += used.compared.exceeding_requests;
    row.excess_points += used.compared.excess_points;
  };
  for (const event of events) {
    const { used, rest } = partsOf(event);
    for (const one of used) add(event, one);
    if (rest.points > 0 || rest.requests > 0) add(event, rest);
  }
  return [...rows.values()];
}

const NOTHING_COMPARED = {
  compared_requests: 0,
  compared_points: 0,
  estimated_points: 0,
  exceeding_requests: 0,
  excess_points: 0,
};

/** A date's text costs more than all else about an event, and a batch is of one day or two. */
function rememberDays(): (atMs: number) => string {
  const texts = new Map<number, string>();
  return (atMs) => {
    const number = Math.floor(atMs / DAY_MS);
    let text = texts.get(number);
    if (text === undefined) {
      text = new Date(atMs).toISOString().slice(0, '2026-07-01'.length);
      texts.set(number, text);
    }
    return text;
  };
}

function noDurations(): number[] {
  return Array.from({ length: DURATION_BUCKETS }, () => 0);
}

/** Operations that claim more than their event has are not believed. */
function partsOf({ points, requests, operations: stated = [] }: UsageEvent): {
  used: readonly UsedOperation[];
  rest: UsedOperation;
} {
  const rest: UsedOperation = { ...OTHERS, hash: null, points, requests, errors: 0, durations: [] };
  const sum = (field: 'points' | 'requests') => stated.reduce((total, one) => total + one[field], 0);
  if (sum('points') > points || sum('requests') > requests) return { used: [], rest };
  return {
    used: stated,
    rest: { ...rest, points: points - sum('points'), requests: requests - sum('requests') },
  };
}
