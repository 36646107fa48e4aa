import type { Logger } from '@tollgate/log';
import type { Problem } from '@tollgate/http/problem';

const MAX_LINES_PER_SECOND = 20;

/** `address` is the client's, empty if its connection is gone. */
export type LogFailure = (requestId: string, problem: Problem, address: string) => void;

/** Limits lines per second, as logging would cost more than the calls in an outage. Never logs tokens or queries. */
export function createFailureLog(
  logger: Pick<Logger, 'warn' | 'error'>,
  options: { now?: () => number; traceIdOf?: (requestId: string) => string } = {},
): LogFailure {
  const { now = Date.now, traceIdOf = (requestId: string) => requestId } = options;
  let second = 0;
  let lines = 0;
  let suppressed = 0;
  return (requestId, problem, address) => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      if (suppressed > 0) logger.warn({ suppressed }, 'more calls failed than were logged');
      second = current;
      lines = 0;
      suppressed = 0;
    }
    if (lines === MAX_LINES_PER_SECOND) {
      suppressed += 1;
      return;
    }
    lines += 1;
    const level = problem.code === 'internal_error' ? 'error' : 'warn';
    logger[level](
      {
        request_id: requestId,
        trace_id: traceIdOf(requestId),
        code: problem.code,
        address,
        err: problem.cause ?? problem,
      },
      'call failed',
    );
  };
}
