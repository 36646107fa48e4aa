import { setTimeout as delay } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
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
import { pathOf } from '@tollgate/http/request-head';
import type { SamplerName } from './sampler-names.ts';
import { recordSocket } from './socket-recorder.ts';
import { createParts, fieldsBelow, setFailed } from './spans.ts';
import type { TraceParent } from './trace-context.ts';
import type { CallTrace, Recorder, TracedRequest } from './traces.ts';

export type RecorderOptions = {
  /** The collector; spans go to /v1/traces there. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  sampler: SamplerName;
  samplerRatio: number;
};

/** Bounds a shutdown without a collector. */
const EXPORT_TIMEOUT_MS = 2_000;
/** Some 20 MB, when a shutdown ends all WebSockets' spans at once. The exporter takes at most 30 batches at a time. */
const MAX_QUEUED_SPANS = 16_384;
const MAX_BATCH_SPANS = 1_024;

/** Records spans and sends them by OTLP over HTTP. A trace that begins here has its X-Request-Id as id. */
export function createRecorder(options: RecorderOptions, logger: Pick<Logger, 'warn'>): Recorder {
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
  const tracer = provider.getTracer('tollgate');
  const startRequest = (req: TracedRequest, requestId: string, parent: TraceParent | null): Span => {
    nextTraceId = requestId;
    const attributes = { ...requestAttributes(req), 'tollgate.request_id': requestId };
    const name = `${attributes['http.request.method']} ${attributes['http.route']}`;
    return tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, contextOf(parent));
  };
  return {
    begin: (req, requestId, parent) =>
      traceOf(tracer, startRequest(req, requestId, parent), parent?.tracestate),
    open: (req, requestId, parent) => {
      const upgrade = startRequest(req, requestId, parent);
      return recordSocket(tracer, upgrade, { requestId, tracestate: parent?.tracestate });
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

function samplerOf({ sampler, samplerRatio }: RecorderOptions): Sampler {
  const root = sampler.endsWith('traceidratio')
    ? new TraceIdRatioBasedSampler(samplerRatio)
    : sampler.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new AlwaysOnSampler();
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function contextOf(parent: TraceParent | null): Context {
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & 1,
    isRemote: true,
  });
}

/** Never the query string, a header or a body: they can hold a token. */
function requestAttributes(req: TracedRequest) {
  const path = pathOf(req);
  return {
    'http.request.method': req.method === 'POST' || req.method === 'GET' ? req.method : '_OTHER',
    'http.route': path,
    'url.path': path,
    'url.scheme': 'http',
    'network.protocol.version': req.httpVersion,
  };
}

function traceOf(tracer: Tracer, call: Span, tracestate: string | undefined): CallTrace {
  const context = trace.setSpan(ROOT_CONTEXT, call);
  const parts = createParts(tracer, context);
  return {
    fields: () => fieldsBelow(parts.current() ?? call, tracestate),
    begin: parts.begin,
    sendTo: ({ host, port }, attempt) => {
      parts.current()?.setAttributes({
        'server.address': host,
        'server.port': port,
        ...(attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {}),
      });
    },
    end: (outcome, status) => {
      const failed = status >= 500 || outcome === 'broken';
      parts.end(failed ? outcome : undefined);
      if (failed) setFailed(call, outcome);
      call.setAttributes({ 'http.response.status_code': status, 'tollgate.outcome': outcome });
      call.end();
    },
  };
}
