import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '@tollgate/redis';
import type { ComposeContext } from '@tollgate/server';
import { apiVersionOf } from '../http/data-paths.ts';
import type { Config } from '../config.ts';
import { createFailureLog } from './failure-log.ts';
import { traceIdOf } from '@tollgate/trace/context';
import type { Traces } from '../trace/traces.ts';
import { createRefusedCalls } from './refused-calls.ts';
import { createRefusalCounts } from './refusal-counts.ts';
import { createRefusalMetrics } from './metrics.ts';
import { createOnRefusedHead } from './refused-head.ts';
import { createSendRefusalCounts } from './send-refusal-counts.ts';
import { createSendRefusedCalls } from './send-refused-calls.ts';

/** What logs and records calls that are refused or fail. */
export function openRefusals(
  { config, logger, registry, addressOf, accessLog }: ComposeContext<Config>,
  redis: RedisConnection,
  traces: Pick<Traces, 'fieldsOf'>,
) {
  const { record, close } = createRefusedCalls({
    send: createSendRefusedCalls(redis),
    counts: createRefusalCounts({ gatewayId: randomUUID(), send: createSendRefusalCounts(redis), logger }),
    tokenPrefix: config.TOKEN_PREFIX,
    perSec: config.REFUSED_CALLS_RECORDED_PER_SEC,
    logger,
    ...createRefusalMetrics(registry),
  });
  return {
    reports: {
      logFailure: createFailureLog(logger, {
        traceIdOf: (requestId) => traceIdOf(traces.fieldsOf(requestId)),
      }),
      recordRefusal: record,
      accessLog,
    },
    onRefusedHead: createOnRefusedHead({ record, addressOf, apiVersionOf }),
    close,
  };
}
