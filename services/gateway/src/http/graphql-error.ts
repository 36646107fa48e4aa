import type { Problem } from '@tollgate/http/problem';

/** The GraphQL error of one operation, with `retry_after_sec` in place of the Retry-After header. */
export function graphqlError(problem: Problem, requestId: string) {
  const retryAfter = problem.headers['retry-after'];
  const { extensions, ...error } = graphqlErrorOfCall(problem, requestId);
  return retryAfter === undefined
    ? { ...error, extensions }
    : { ...error, extensions: { retry_after_sec: Number(retryAfter), ...extensions } };
}

/** The GraphQL error of a call. Places in its document are a member of their own (GraphQL, "Errors"). */
export function graphqlErrorOfCall(problem: Problem, requestId: string) {
  const { code, detail, title } = problem;
  const { locations, ...extensions } = problem.extensions;
  return {
    message: detail ?? title,
    ...(locations === undefined ? {} : { locations }),
    extensions: { ...extensions, code, request_id: requestId },
  };
}
