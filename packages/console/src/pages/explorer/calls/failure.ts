import { ApiError } from '../../../api/client.ts';
import type { CallReport } from './report.ts';

/** A call without a response: there was no token for it, or the data endpoint could not be reached. */
export function failureOf(error: unknown): { message: string; report: CallReport } {
  const problem = error instanceof ApiError ? error.problem : null;
  const message =
    error instanceof ApiError
      ? `There is no token for this call: ${error.message}`
      : 'The data endpoint cannot be reached. Check your connection.';
  return {
    message,
    report: {
      kind: 'call',
      status: problem?.status ?? 0,
      refusal: problem && { code: problem.code, message, retryAfterSec: null },
      durationMs: 0,
      bytes: 0,
      requestId: problem?.request_id ?? null,
      pointsCost: null,
      pointsEstimate: null,
      pointsRemaining: null,
      rate: null,
    },
  };
}
