import { Counter, Gauge } from 'prom-client';
import type { Metric, Registry } from 'prom-client';

/** Metrics in plain numbers until a scrape: prom-client's lookup by labels takes some percent of a data call's time. */
type Description = { name: string; help: string };

/** A counter by outcome; returns what counts one. `outcomes` start at 0. */
export function createOutcomes(
  registry: Registry,
  { outcomes = [], ...description }: Description & { outcomes?: readonly string[] },
): (outcome: string) => void {
  const tallies = new Map(outcomes.map((outcome) => [outcome, { count: 0 }]));
  new Counter({
    ...description,
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      for (const [outcome, tally] of tallies) {
        this.inc({ outcome }, tally.count);
        tally.count = 0;
      }
    },
  });
  return (outcome) => {
    const tally = tallies.get(outcome);
    if (tally === undefined) tallies.set(outcome, { count: 1 });
    else tally.count += 1;
  };
}

/** A gauge that reads its value at each scrape. */
export function observeValue(
  registry: Registry,
  { read, ...description }: Description & { read: () => number },
): void {
  new Gauge({
    ...description,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

type Labels = Readonly<Record<string, string>>;

type Series = { labels: Labels; counts: number[]; sum: number };

export type Observe = (seconds: number) => void;

/** A histogram; returns what makes a series, once for each. `buckets` are upper bounds, ascending. */
export function createHistogram(
  registry: Registry,
  {
    buckets,
    labelNames = [],
    ...description
  }: Description & { buckets: readonly number[]; labelNames?: readonly string[] },
): (labels?: Labels) => Observe {
  const { name } = description;
  const all: Series[] = [];
  const histogram = {
    ...description,
    labelNames,
    type: 'histogram',
    get: () =>
      Promise.resolve({
        ...description,
        type: 'histogram',
        aggregator: 'sum',
        values: all.flatMap((series) => samplesOf(name, buckets, series)),
      }),
  };
  // The registry uses only its name and samples, docs/metrics.md its description.
  registry.registerMetric(histogram as unknown as Metric);
  return (labels = {}) => {
    const series: Series = { labels, counts: buckets.map(() => 0).concat(0), sum: 0 };
    all.push(series);
    return (seconds) => {
      let bucket = 0;
      while (bucket < buckets.length && seconds > (buckets[bucket] ?? Infinity)) bucket += 1;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.sum += seconds;
    };
  };
}

function samplesOf(name: string, buckets: readonly number[], { labels, counts, sum }: Series) {
  let count = 0;
  const samples = counts.map((inBucket, index) => {
    count += inBucket;
    const le = buckets[index] ?? '+Inf';
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...samples,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
