import type { RefusedCall } from './queries.ts';

/** Calls in a row, newest first, that were refused for the same reason. */
export type Fold = {
  calls: readonly [RefusedCall, ...RefusedCall[]];
  /** Those that were only counted, too; they are known by code and account, not by application. */
  count: number;
};

const ALIKE = ['code', 'status', 'kind', 'application_id', 'account_id'] as const;

/** Folds equal neighbours, so that a burst doesn't hide what else was refused. */
export function foldNeighbours(calls: readonly RefusedCall[]): Fold[] {
  const folds: { calls: [RefusedCall, ...RefusedCall[]]; count: number }[] = [];
  for (const call of calls) {
    const last = folds.at(-1);
    const count = 1 + call.unrecorded_before;
    if (last !== undefined && ALIKE.every((field) => last.calls[0][field] === call[field])) {
      last.calls.push(call);
      last.count += count;
    } else {
      folds.push({ calls: [call], count });
    }
  }
  return folds;
}
