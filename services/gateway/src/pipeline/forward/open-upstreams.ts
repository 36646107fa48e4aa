import type { Cors } from '@tollgate/http/cors';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../../config.ts';
import { createForwarder } from './forward.ts';
import { observeForwarded } from './metrics.ts';
import { Problem } from '@tollgate/http/problem';
import { createRoom } from '../../http/room.ts';
import type { createUpstreamMetrics } from './upstream/metrics.ts';
import { ejectionRules } from './upstream/ejection.ts';

/** Calls that wait for a connection, for each connection. */
const WAITING_PER_CONNECTION = 4;

/** The upstream of each version of the API; v1 may have none. */
export function openUpstreams(
  { config, logger, registry, trusts }: ComposeContext<Config>,
  options: { observerOf: ReturnType<typeof createUpstreamMetrics>; cors: Cors | null },
) {
  const { observerOf } = options;
  const cors = options.cors?.fields ?? null;
  const streamSlots = createRoom({
    total: config.UPSTREAM_STREAMS,
    perHolder: config.UPSTREAM_STREAMS_PER_PAYER,
    tooMuchOfHolder: () => new Problem('too_many_streams', { headers: { 'retry-after': '1' } }),
    what: 'streams; UPSTREAM_STREAMS bounds them',
  });
  const forwarderTo = (urls: readonly string[], apiVersion: UsageEvent['api_version']) =>
    createForwarder({
      connections: config.UPSTREAM_CONNECTIONS,
      connectionsPerPayer: config.UPSTREAM_CONNECTIONS_PER_PAYER,
      maxWaiting: WAITING_PER_CONNECTION * config.UPSTREAM_CONNECTIONS,
      connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS,
      headersTimeoutMs: config.UPSTREAM_HEADERS_TIMEOUT_MS,
      bodyIdleTimeoutMs: config.UPSTREAM_BODY_IDLE_TIMEOUT_MS,
      wholeTimeoutMs: config.UPSTREAM_WHOLE_TIMEOUT_MS,
      keepAliveMs: config.UPSTREAM_KEEP_ALIVE_MS,
      connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
      plainHttp: config.PLAIN_HTTP === 'on',
      callsPerConnection: config.UPSTREAM_CALLS_PER_CONNECTION,
      ejection: ejectionRules(config),
      defaultPoints: config.DEFAULT_POINTS,
      chargesEstimates: config.MISSING_POINTS === 'estimate',
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
  observeForwarded(registry, {
    openStreams: streamSlots.taken,
    streamsPerPayerMax: config.UPSTREAM_STREAMS_PER_PAYER,
    abandonedCalls: () => all.reduce((sum, { abandoned }) => sum + abandoned.count(), 0),
  });
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
