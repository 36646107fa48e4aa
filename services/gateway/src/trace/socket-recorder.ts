import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Span, Tracer } from '@opentelemetry/api';
import { setFailed } from '@tollgate/trace/provider';
import { createSteps, fieldsBelow } from './spans.ts';
import type { SocketTrace, TracedEnd } from './socket-trace.ts';

/** A GraphQL Name (section 2.1.9), shorter than an access token that was sent by mistake. */
const OPERATION_NAME = /^[_A-Za-z][_0-9A-Za-z]{0,63}$/;

/** Records a WebSocket below the upgrade's span, which ends at once, so that the collector has the parent. */
export function recordSocket(
  tracer: Tracer,
  upgrade: Span,
  socket: { requestId: string; tracestate: string | undefined },
): SocketTrace {
  const { requestId, tracestate } = socket;
  const context = trace.setSpan(ROOT_CONTEXT, upgrade);
  const steps = createSteps(tracer, context);
  const common = { 'network.protocol.name': 'websocket', 'tollgate.request_id': requestId };
  let open: Span | null = null;

  const answered = (outcome: string, status: number) => {
    const isFailure = status >= 500;
    steps.end(isFailure ? outcome : undefined);
    upgrade.setAttribute('http.response.status_code', status);
    endSpan(upgrade, { outcome, failed: isFailure });
    if (status === 101) open = tracer.startSpan('websocket', { attributes: common }, context);
  };

  return {
    fields: () => fieldsBelow(steps.current() ?? upgrade, tracestate),
    begin: steps.begin,
    identified: steps.end,
    answered,
    connect: (url, attempt) => {
      const attributes = { ...addressOf(url), ...common, ...resent(attempt) };
      const span = tracer.startSpan('connect', { kind: SpanKind.CLIENT, attributes }, context);
      return {
        fields: () => fieldsBelow(span, tracestate),
        end: (end) => {
          if (span.isRecording()) endSpan(span, end);
        },
      };
    },
    operation: (name) => {
      const isName = typeof name === 'string' && OPERATION_NAME.test(name);
      const attributes = { ...common, ...(isName ? { 'graphql.operation.name': name } : {}) };
      const span = tracer.startSpan('GraphQL Operation', { kind: SpanKind.SERVER, attributes }, context);
      const { begin, end: endPart } = createSteps(tracer, trace.setSpan(ROOT_CONTEXT, span));
      return {
        begin,
        end: (end) => {
          endPart(end.failed ? end.outcome : undefined);
          endSpan(span, end);
        },
      };
    },
    closed: (end) => {
      steps.end(end.failed ? end.outcome : undefined);
      if (open !== null) endSpan(open, end);
    },
    gone: () => {
      if (!upgrade.isRecording()) return;
      steps.end();
      endSpan(upgrade, { outcome: 'aborted', failed: false });
    },
  };
}

function endSpan(span: Span, { outcome, failed, closeCode }: TracedEnd): void {
  span.setAttribute('tollgate.outcome', outcome);
  if (closeCode !== undefined) span.setAttribute('tollgate.websocket.close_code', closeCode);
  if (failed) setFailed(span, outcome);
  span.end();
}

function addressOf(url: string) {
  const { hostname, port, protocol } = new URL(url);
  const defaultPort = protocol === 'wss:' || protocol === 'https:' ? 443 : 80;
  return { 'server.address': hostname, 'server.port': port === '' ? defaultPort : Number(port) };
}

function resent(attempt: number) {
  return attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {};
}
