import type { Registry } from 'prom-client';
import { createHistogram } from '@tollgate/server/tallies';
import type { Observe } from '@tollgate/server/tallies';

const BUCKETS_SEC = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A histogram of an endpoint's requests by outcome, of which there are few; returns what observes one. */
export function createLatencies(
  registry: Registry,
  description: { name: string; help: string },
): (outcome: string, durationMs: number) => void {
  const histogram = createHistogram(registry, {
    ...description,
    labelNames: ['outcome'],
    buckets: BUCKETS_SEC,
  });
  const series = new Map<string, Observe>();
  return (outcome, durationMs) => {
    const observe = series.get(outcome) ?? histogram({ outcome });
    series.set(outcome, observe);
    observe(durationMs / 1_000);
  };
}
