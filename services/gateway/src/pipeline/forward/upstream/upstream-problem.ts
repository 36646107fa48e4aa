import { Problem } from '@tollgate/http/problem';
import { PoolFullError } from '@tollgate/plain-http/client';

/** The caller's problem if the upstream fails: upstream_timeout (504) for silence, else upstream_unreachable (502). */
export function upstreamProblem(error: Error): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof PoolFullError) return new Problem('service_unavailable', { cause: error });
  switch ('code' in error ? error.code : undefined) {
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return new Problem('upstream_timeout', { cause: error });
    case 'UND_ERR_INVALID_ARG':
      return new Problem('invalid_request', { cause: error });
    default:
      return new Problem('upstream_unreachable', { cause: error });
  }
}
