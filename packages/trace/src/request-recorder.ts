import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { pathOf } from '@tollgate/http/request-head';
import type { Logger } from '@tollgate/log';
import { withTrace } from '@tollgate/log/current-trace';
import type { CurrentTrace } from '@tollgate/log/current-trace';
import { REQUEST_ID_HEADER, newRequestId, requestIdOf } from '@tollgate/log/request-id';
import { traceFields, traceParentOf } from './context.ts';
import { contextOf, createSpanSender, providerOptionsOf, setFailed } from './provider.ts';
import type { TraceConfig } from './settings.ts';

type TraceRequest = (
  req: HttpRequest,
  res: HttpResponse,
  options: { isContinued: boolean; work: () => void },
) => void;

/** Of auth, outside Express; another path could hold what a caller sent by mistake. */
const DIRECT_ROUTES = new Set(['/oauth2/introspect', '/oauth2/token']);

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Records a SERVER span for each request, and a CLIENT span for what it asks of a store. */
export function createRequestRecorder(
  config: TraceConfig,
  logger: Pick<Logger, 'warn'>,
): { record: TraceRequest; close: () => Promise<void> } {
  const options = providerOptionsOf(config);
  if (options === null) throw new Error('no collector is configured');
  const { tracer, nameNextTrace, close } = createSpanSender(options, logger);

  const record: TraceRequest = (req, res, { isContinued, work }) => {
    const parent = isContinued ? traceParentOf(req.rawHeaders) : null;
    const isNamed = req.headers[REQUEST_ID_HEADER] !== undefined;
    const requestId = requestIdOf(req);
    // The handlers read the id from here, so that logs, response and trace have the same one.
    req.headers[REQUEST_ID_HEADER] = requestId;
    // An id that a caller chose could be that of another trace.
    nameNextTrace(isNamed ? newRequestId() : requestId);
    const method = METHODS.has(req.method ?? '') ? String(req.method) : '_OTHER';
    const attributes = { 'http.request.method': method, 'tollgate.request_id': requestId };
    const path = pathOf(req);
    const direct = DIRECT_ROUTES.has(path) ? path : undefined;
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, contextOf(parent));
    res.once('close', () => {
      const { route, baseUrl } = req as { route?: { path?: unknown }; baseUrl?: string };
      const routed = typeof route?.path === 'string' ? `${baseUrl ?? ''}${route.path}` : undefined;
      const template = direct ?? routed;
      if (template !== undefined) {
        span.updateName(`${method} ${template}`).setAttribute('http.route', template);
      }
      span.setAttribute('http.response.status_code', res.statusCode);
      if (res.statusCode >= 500) setFailed(span, String(res.statusCode));
      span.end();
    });
    withTrace(createCurrent(tracer, span, parent?.tracestate), work);
  };
  return { record, close };
}

function createCurrent(tracer: Tracer, span: Span, tracestate: string | undefined): CurrentTrace {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const context: Context = trace.setSpan(ROOT_CONTEXT, span);
  return {
    traceId,
    fields: () => traceFields({ traceId, spanId, flags: traceFlags, tracestate }),
    store: (system, operation) => {
      const attributes = { 'db.system.name': system, 'db.operation.name': operation };
      const client = tracer.startSpan(
        `${system} ${operation}`,
        { kind: SpanKind.CLIENT, attributes },
        context,
      );
      return (error) => {
        if (error instanceof Error) setFailed(client, error.name);
        client.end();
      };
    },
  };
}
