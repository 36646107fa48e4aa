import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Span, Tracer } from '@opentelemetry/api';
import type { Logger } from '@tollgate/log';
import { pathOf } from '@tollgate/http/request-head';
import type { TraceParent } from '@tollgate/trace/context';
import { contextOf, createSpanSender, setFailed } from '@tollgate/trace/provider';
import type { ProviderOptions } from '@tollgate/trace/provider';
import { recordSocket } from './socket-recorder.ts';
import { createSteps, fieldsBelow } from './spans.ts';
import type { CallTrace, Recorder, TracedRequest } from './traces.ts';

/** Records spans and sends them by OTLP over HTTP. A trace that begins here has its X-Request-Id as id. */
export function createRecorder(options: ProviderOptions, logger: Pick<Logger, 'warn'>): Recorder {
  const { tracer, nameNextTrace, close } = createSpanSender(options, logger);
  const startRequest = (req: TracedRequest, requestId: string, parent: TraceParent | null): Span => {
    nameNextTrace(requestId);
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
    close,
  };
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
  const steps = createSteps(tracer, context);
  return {
    fields: () => fieldsBelow(steps.current() ?? call, tracestate),
    begin: steps.begin,
    sendTo: ({ host, port }, attempt) => {
      steps.current()?.setAttributes({
        'server.address': host,
        'server.port': port,
        ...(attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {}),
      });
    },
    end: (outcome, status) => {
      const failed = status >= 500 || outcome === 'broken';
      steps.end(failed ? outcome : undefined);
      if (failed) setFailed(call, outcome);
      call.setAttributes({ 'http.response.status_code': status, 'tollgate.outcome': outcome });
      call.end();
    },
  };
}
