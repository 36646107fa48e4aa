import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import type { Logger } from '@tollgate/log';
import { currentTrace } from '@tollgate/log/current-trace';
import { traceCommands } from '@tollgate/redis/trace-commands';
import type { RedisConnection } from '@tollgate/redis';
import type { TraceConfig } from './settings.ts';

/** Traces of a service that is asked by others (docs/design/operations.md). */
export type ServiceTraces = {
  /** Records each request; `continues` says whether the trace of a request's sender is continued. */
  wrap: <Req extends HttpRequest, Res extends HttpResponse>(
    handler: (req: Req, res: Res) => void,
    continues: (req: HttpRequest) => boolean,
  ) => (req: Req, res: Res) => void;
  close: () => Promise<void>;
};

/** The trace context of the request that is being handled, for the next server. */
export function currentTraceFields(): readonly string[] {
  return currentTrace()?.fields() ?? [];
}

/** Probes and scrapes are no traffic. */
const UNTRACED = /^\/(?:health\/|metrics$)/;

/** Where there is no collector, nothing of OpenTelemetry is loaded, and requests are handled as they are. */
export async function openServiceTraces(
  config: TraceConfig,
  redis: RedisConnection,
  logger: Logger,
): Promise<ServiceTraces> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) {
    return { wrap: (handler) => handler, close: () => Promise.resolve() };
  }
  const { createRequestRecorder } = await import('./request-recorder.ts');
  const { record, close } = createRequestRecorder(config, logger);
  traceCommands(redis);
  return {
    wrap: (handler, continues) => (req, res) => {
      const work = () => {
        handler(req, res);
      };
      if (UNTRACED.test(req.url ?? '')) work();
      else record(req, res, { isContinued: continues(req), work });
    },
    close,
  };
}
