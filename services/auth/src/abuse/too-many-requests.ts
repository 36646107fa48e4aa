import { Problem } from '@tollgate/http/problem';

/** The same for every limit: naming one would tell what the others still allow. */
export function tooManyRequests(retryAfterMs: number): Problem {
  return new Problem('too_many_requests', {
    detail: 'Too many requests. Try again later.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
  });
}
