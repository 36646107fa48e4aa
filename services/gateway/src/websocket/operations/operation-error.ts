import { Problem } from '@tollgate/http/problem';

export const UNRECORDED = new Problem('service_unavailable', {
  detail: 'The operation was carried out, but its usage could not be recorded in time.',
  cause: new Error('Redis has not acknowledged the usage'),
});

export const CLOSED_BEFORE_ANSWER = new Problem('service_unavailable', {
  detail: 'The socket closed before the result arrived. The operation may have been carried out.',
});
