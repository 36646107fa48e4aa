import { durationBucket } from '@tollgate/contracts/durations';
import { MAX_OPERATIONS_PER_EVENT } from '@tollgate/contracts/usage-stream';
import type { ComparedPrices, UsedOperation } from '@tollgate/contracts/usage-stream';
import type { CountedOperation } from '../operation-reader/counted-operation.ts';
import type { TimedUsage } from './usage-event.ts';

type OperationSum = Omit<UsedOperation, 'durations' | 'compared'> & {
  durations: Map<number, number>;
  compared: ComparedPrices | null;
};

/** Sums the usage of one event by operation. */
export type OperationSums = {
  add: (usage: TimedUsage) => void;
  /** The operations with the most points; the others, if there are any, are one. */
  operations: () => UsedOperation[];
};

export function createOperationSums(): OperationSums {
  // By identity, as most calls of a batch repeat a text: a look-up by hash and name takes several times as long.
  const byText = new Map<CountedOperation, OperationSum>();
  return {
    add: ({ points, requests, operation }) => {
      if (operation === null) return;
      const { counted, isError, durationMs, estimatedPoints } = operation;
      let sum = byText.get(counted);
      if (sum === undefined) {
        const { document, name } = counted;
        const { hash } = document;
        sum = { hash, name, points: 0, requests: 0, errors: 0, durations: new Map(), compared: null };
        byText.set(counted, sum);
      }
      sum.points += points;
      sum.requests += requests;
      if (isError) sum.errors += requests;
      if (durationMs !== null) count(sum.durations, durationBucket(durationMs), 1);
      if (estimatedPoints !== null) compare((sum.compared ??= nothingCompared()), points, estimatedPoints);
    },
    operations: () => {
      const all = [
        ...Map.groupBy(byText.values(), ({ hash, name }) => `${String(hash)} ${name ?? ''}`).values(),
      ];
      const sums = all.map((same) => same.reduce(together));
      if (sums.length <= MAX_OPERATIONS_PER_EVENT) return sums.map(usedOperation);
      const sorted = sums.toSorted((one, other) => other.points - one.points);
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
  if (more.compared !== null) addCompared((sum.compared ??= nothingCompared()), more.compared);
  return sum;
}

function count(durations: Map<number, number>, bucket: number, times: number): void {
  durations.set(bucket, (durations.get(bucket) ?? 0) + times);
}

function nothingCompared(): ComparedPrices {
  return { requests: 0, points: 0, estimated_points: 0, exceeding_requests: 0, excess_points: 0 };
}

function compare(sum: ComparedPrices, points: number, estimatedPoints: number): void {
  sum.requests += 1;
  sum.points += points;
  sum.estimated_points += estimatedPoints;
  if (points <= estimatedPoints) return;
  sum.exceeding_requests += 1;
  sum.excess_points += points - estimatedPoints;
}

function addCompared(sum: ComparedPrices, more: ComparedPrices): void {
  sum.requests += more.requests;
  sum.points += more.points;
  sum.estimated_points += more.estimated_points;
  sum.exceeding_requests += more.exceeding_requests;
  sum.excess_points += more.excess_points;
}

function usedOperation({ compared, ...sum }: OperationSum): UsedOperation {
  return { ...sum, durations: [...sum.durations], ...(compared !== null && { compared }) };
}
