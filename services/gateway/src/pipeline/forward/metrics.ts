import type { Registry } from 'prom-client';
import { observeValue } from '@tollgate/server/tallies';

type Observed = {
  /** Streams, in all. */
  openStreams: () => number;
  streamsPerPayerMax: number;
  abandonedCalls: () => number;
};

/** What calls hold of the upstreams, of all versions of the API. */
export function observeForwarded(
  registry: Registry,
  { openStreams, streamsPerPayerMax, abandonedCalls }: Observed,
): void {
  observeValue(registry, {
    name: 'tollgate_upstream_streams_open',
    help: 'Streams of HTTP responses that hold a connection to the upstream',
    read: openStreams,
  });
  observeValue(registry, {
    name: 'tollgate_upstream_streams_per_payer_max',
    help: 'Streams that this gateway holds for one payer at most (UPSTREAM_STREAMS_PER_PAYER)',
    read: () => streamsPerPayerMax,
  });
  observeValue(registry, {
    name: 'tollgate_data_calls_abandoned',
    help: 'Data calls whose callers have gone and whose price has not arrived',
    read: abandonedCalls,
  });
}
