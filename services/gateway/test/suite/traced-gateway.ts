import { randomBytes } from 'node:crypto';
import { waitFor } from '@tollgate/stack/wait-for';
import { startCollector } from './collector.ts';
import type { CollectedSpan, Collector } from './collector.ts';
import { startGateway } from './gateway.ts';
import type { GatewayUnderTest } from './gateway.ts';

/** A gateway that exports to a collector, and a caller's trace from a trusted proxy. */
export type TracedGateway = GatewayUnderTest & {
  collector: Collector;
  socketUrl: string;
  traceId: string;
  headers: { traceparent: string; tracestate: string };
  socketsGone: () => Promise<void>;
  /** The spans of a trace, by default the caller's, once the gateway has exported everything. */
  spans: (traceId?: string) => Promise<CollectedSpan[]>;
};

export const CALLER_SPAN = 'b7ad6b7169203331';
export const NOT_FAILED = { code: 0 };
export const FAILED = { code: 2 };

export async function startTracedGateway(env: Record<string, string>): Promise<TracedGateway> {
  const collector = await startCollector();
  const gateway = await startGateway({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRUSTED_PROXIES: '127.0.0.1', ...env },
  });
  const traceId = randomBytes(16).toString('hex');
  return {
    ...gateway,
    collector,
    socketUrl: gateway.graphqlUrl.replace('http', 'ws'),
    traceId,
    headers: { traceparent: `00-${traceId}-${CALLER_SPAN}-01`, tracestate: 'vendor=opaque' },
    socketsGone: async () => {
      await waitFor(async () => (await gateway.metric('tollgate_websockets_open')) === 0);
    },
    spans: async (id = traceId) => {
      await gateway.process.stop();
      return collector.spansOf(id);
    },
    stop: async () => {
      await gateway.stop();
      await collector.goAway();
    },
  };
}

export function named(spans: CollectedSpan[], name: string): CollectedSpan {
  const span = spans.find((one) => one.name === name);
  if (span === undefined) throw new Error(`no span ${name} in ${spans.map((one) => one.name).join()}`);
  return span;
}

export function operationsOf(spans: CollectedSpan[]): CollectedSpan[] {
  return spans.filter(({ name }) => name === 'GraphQL Operation');
}
