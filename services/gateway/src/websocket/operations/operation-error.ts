import { Problem } from '@tollgate/http/problem';

/** The GraphQL error of one operation, as on POST, with `retry_after_sec` in place of the Retry-After header. */
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

export const UNRECORDED = new Problem('service_unavailable', {
  detail: 'The operation was carried out, but its usage could not be recorded in time.',
  cause: new Error('Redis has not acknowledged the usage'),
});

export const CLOSED_BEFORE_ANSWER = new Problem('service_unavailable', {
  detail: 'The socket closed before the result arrived. The operation may have been carried out.',
});
