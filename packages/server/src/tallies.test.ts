import { expect, test } from '@jest/globals';
import { Histogram, Registry } from 'prom-client';
import { createHistogram, createOutcomes } from './tallies.ts';

const description = { name: 'some_duration_seconds', help: 'Some time', buckets: [0.001, 0.5, 10] };
const observed = [0, 0.001, 0.0011, 0.5, 3, 10, 10.1, 600];

/** Lines without the order of labels, of which the format knows none. */
function samples(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join()}}`))
    .sort();
}

test("a histogram's samples are prom-client's", async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const series = createHistogram(ours, description);
  const [one, two] = [series({ part: 'one' }), series({ part: 'two' })];
  const histogram = new Histogram({ ...description, labelNames: ['part'], registers: [theirs] });
  for (const seconds of observed) {
    one(seconds);
    histogram.labels('one').observe(seconds);
  }
  two(0.2);
  histogram.labels('two').observe(0.2);
  for (const registry of [ours, theirs]) registry.setDefaultLabels({ service: 'suite' });
  expect(samples(await ours.metrics())).toEqual(samples(await theirs.metrics()));
});

test('outcomes are counted over scrapes', async () => {
  const registry = new Registry();
  const onOutcome = createOutcomes(registry, { name: 'some_total', help: 'Some' });
  onOutcome('hit');
  onOutcome('hit');
  onOutcome('miss');
  expect(await registry.metrics()).toContain('some_total{outcome="hit"} 2');
  onOutcome('hit');
  const scraped = await registry.metrics();
  expect(scraped).toContain('some_total{outcome="hit"} 3');
  expect(scraped).toContain('some_total{outcome="miss"} 1');
});
