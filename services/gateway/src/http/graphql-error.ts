import type { Problem } from '@tollgate/http/problem';

/** The GraphQL error of one operation, with `retry_after_sec` in place of the Retry-After header. */
export function graphqlError(problem: Problem, requestId: string) {
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
