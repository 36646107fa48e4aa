import type { Problem } from '@tollgate/problem';

/** A refusal as the GraphQL error of one operation, as on POST; and when to come back, which there is a header. */
export function operationError(problem: Problem, requestId: string) {
  const { code, detail, title, headers, extensions } = problem;
  const retryAfter = headers['retry-after'];
  return {
    message: detail ?? title,
    extensions: {
      ...(retryAfter === undefined ? {} : { retry_after_sec: Number(retryAfter) }),
      ...extensions,
      code,
      request_id: requestId,
    },
  };
}
