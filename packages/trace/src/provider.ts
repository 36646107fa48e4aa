import { setTimeout as delay } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Logger } from '@tollgate/log';
import type { TraceParent } from './context.ts';
import type { SamplerName } from './sampler-names.ts';
import type { TraceConfig } from './settings.ts';

export type ProviderOptions = {
  /** The collector; spans go to /v1/traces there. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  sampler: SamplerName;
  samplerRatio: number;
};

/** The options of OTEL_… settings; null without a collector. */
export function providerOptionsOf(config: TraceConfig): ProviderOptions | null {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return null;
  return {
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: config.OTEL_SERVICE_NAME,
    sampler: config.OTEL_TRACES_SAMPLER,
    samplerRatio: config.OTEL_TRACES_SAMPLER_ARG,
  };
}

/** Bounds a shutdown without a collector. */
const EXPORT_TIMEOUT_MS = 2_000;
/** Some 20 MB, when a shutdown ends all WebSockets' spans at once. The exporter takes at most 30 batches at a time. */
const MAX_QUEUED_SPANS = 16_384;
const MAX_BATCH_SPANS = 1_024;

export type SpanSender = {
  tracer: Tracer;
  /** Gives the next trace that begins here its id. */
  nameNextTrace: (traceId: string) => void;
  /** Sends what is recorded, within a time limit. */
  close: () => Promise<void>;
};

/** Sends spans by OTLP over HTTP. */
export function createSpanSender(options: ProviderOptions, logger: Pick<Logger, 'warn'>): SpanSender {
  const { endpoint, headers, serviceName } = options;
  const random = new RandomIdGenerator();
  let nextTraceId = '';
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': serviceName })),
    sampler: samplerOf(options),
    idGenerator: {
      generateTraceId: () => nextTraceId,
      generateSpanId: () => random.generateSpanId(),
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({
          url: `${endpoint}/v1/traces`,
          headers,
          timeoutMillis: EXPORT_TIMEOUT_MS,
        }),
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        maxQueueSize: MAX_QUEUED_SPANS,
        maxExportBatchSize: MAX_BATCH_SPANS,
      }),
    ],
  });
  return {
    tracer: provider.getTracer('tollgate'),
    nameNextTrace: (traceId) => {
      nextTraceId = traceId;
    },
    close: async () => {
      const sent = provider.shutdown().then(
        () => true,
        () => false,
      );
      // The exporter's retries exceed its own limit.
      if (!(await Promise.race([sent, delay(EXPORT_TIMEOUT_MS, false, { ref: false })]))) {
        logger.warn('the last spans were not sent: the collector does not take them');
      }
    },
  };
}

function samplerOf({ sampler, samplerRatio }: ProviderOptions): Sampler {
  const root = sampler.endsWith('traceidratio')
    ? new TraceIdRatioBasedSampler(samplerRatio)
    : sampler.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new AlwaysOnSampler();
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

export function contextOf(parent: TraceParent | null): Context {
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & 1,
    isRemote: true,
  });
}

export function setFailed(span: Span, error: string): void {
  span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
}
