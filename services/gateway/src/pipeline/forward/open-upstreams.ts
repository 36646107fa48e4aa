import type { Cors } from '@tollgate/http/cors';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Logger } from '@tollgate/log';
import type { Config } from '../../config.ts';
import { createForwarder } from './forward.ts';
import { Problem } from '@tollgate/http/problem';
import { createRoom } from '../../http/room.ts';
import type { createUpstreamMetrics } from './upstream/upstream-metrics.ts';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import type { Metrics } from '../../metrics.ts';
import { forwarding } from '../../part-settings.ts';

/** The upstream of each version of the API; v1 may have none. */
export function composeUpstreams(
  config: Config,
  parts: {
    observerOf: ReturnType<typeof createUpstreamMetrics>;
    trusts: TrustsAddress;
    cors: Cors | null;
    logger: Logger;
    metrics: Pick<Metrics, 'observeAbandoned' | 'observeStreams'>;
  },
) {
  const { observerOf, trusts, logger } = parts;
  const cors = parts.cors?.fields ?? null;
  const streamSlots = createRoom({
    total: config.UPSTREAM_STREAMS,
    perPayer: config.UPSTREAM_STREAMS_PER_PAYER,
    tooMuchOfPayer: () => new Problem('too_many_streams', { headers: { 'retry-after': '1' } }),
    what: 'streams; UPSTREAM_STREAMS bounds them',
  });
  parts.metrics.observeStreams({ open: streamSlots.taken, perPayerMax: config.UPSTREAM_STREAMS_PER_PAYER });
  const forwarderTo = (urls: readonly string[], apiVersion: UsageEvent['api_version']) =>
    createForwarder({
      ...forwarding(config),
      trusts,
      cors,
      logger,
      streamSlots,
      urls,
      observer: observerOf(apiVersion),
    });
  const v2 = forwarderTo(config.UPSTREAM_URL, 'v2');
  const v1 = config.UPSTREAM_V1_URL === undefined ? null : forwarderTo(config.UPSTREAM_V1_URL, 'v1');
  const all = v1 === null ? [v2] : [v2, v1];
  parts.metrics.observeAbandoned(() => all.reduce((sum, { abandoned }) => sum + abandoned.count(), 0));
  let cutAtMs = 0;
  return {
    v2,
    v1,
    drain: ({ cutAfterMs }: { cutAfterMs: number }) => {
      cutAtMs = performance.now() + cutAfterMs;
    },
    /** Calls without a caller have no connection whose end a shutdown waits for. */
    endAbandoned: () => Promise.all(all.map(({ abandoned }) => abandoned.end(cutAtMs - performance.now()))),
    close: () => Promise.all(all.map(({ close }) => close())),
  };
}
