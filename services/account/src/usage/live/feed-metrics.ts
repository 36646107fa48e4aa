import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

export type FeedMetrics = { events: Pick<Counter<'event'>, 'inc'>; slow: Pick<Counter, 'inc'> };

export function createFeedMetrics(registry: Registry, open: () => number): FeedMetrics {
  const registers = [registry];
  new Gauge({
    name: 'tollgate_usage_feeds_open',
    help: 'Live feeds of usage that are open in this process',
    registers,
    collect() {
      this.set(open());
    },
  });
  return {
    events: new Counter({
      name: 'tollgate_usage_feed_events_total',
      help: 'Events sent to live feeds of usage by this process, by event',
      labelNames: ['event'],
      registers,
    }),
    slow: new Counter({
      name: 'tollgate_usage_feeds_slow_total',
      help: 'Live feeds of usage that were cut off because their reader was too slow',
      registers,
    }),
  };
}
