import { durationBucket } from '@tollgate/contracts/durations';
import { MAX_OPERATIONS_PER_EVENT } from '@tollgate/contracts/usage-stream';
import type { UsedOperation } from '@tollgate/contracts/usage-stream';
import type { TimedUsage } from './usage-event.ts';

type OperationSum = Omit<UsedOperation, 'durations'> & { durations: Map<number, number> };

/** Sums the usage of one event by operation. */
export type OperationSums = {
  add: (usage: TimedUsage) => void;
  /** The operations with the most points; the others, if there are any, are one. */
  operations: () => UsedOperation[];
};

export function createOperationSums(): OperationSums {
  const sums = new Map<string, OperationSum>();
  return {
    add: ({ points, requests, operation }) => {
      if (operation === null) return;
      const { counted, isError, durationMs } = operation;
      const { hash } = counted.document;
      const name = `${hash} ${counted.name ?? ''}`;
      let sum = sums.get(name);
      if (sum === undefined) {
        sum = { hash, name: counted.name, points: 0, requests: 0, errors: 0, durations: new Map() };
        sums.set(name, sum);
      }
      sum.points += points;
      sum.requests += requests;
      if (isError) sum.errors += requests;
      if (durationMs !== null) count(sum.durations, durationBucket(durationMs), 1);
    },
    operations: () => {
      const all = [...sums.values()];
      if (all.length <= MAX_OPERATIONS_PER_EVENT) return all.map(usedOperation);
      const sorted = all.toSorted((one, other) => other.points - one.points);
      const others = sorted.splice(MAX_OPERATIONS_PER_EVENT).reduce(together);
      return [...sorted, { ...others, hash: null, name: null }].map(usedOperation);
    },
  };
}

function together(sum: OperationSum, more: OperationSum): OperationSum {
  sum.points += more.points;
  sum.requests += more.requests;
  sum.errors += more.errors;
  for (const [bucket, times] of more.durations) count(sum.durations, bucket, times);
  return sum;
}

function count(durations: Map<number, number>, bucket: number, times: number): void {
  durations.set(bucket, (durations.get(bucket) ?? 0) + times);
}

function usedOperation(sum: OperationSum): UsedOperation {
  return { ...sum, durations: [...sum.durations] };
}
