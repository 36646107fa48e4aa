import type { Problem } from '@tollgate/http/problem';

/** A problem as the GraphQL error of one operation, with Retry-After among its extensions. */
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
