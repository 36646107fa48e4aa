import { Problem } from '@tollgate/http/problem';

/**
 * What the caller is told where the upstream gave no answer: upstream_timeout (504) where it was silent,
 * upstream_unreachable (502) for whatever else broke before its answer began.
 */
export function upstreamProblem(error: Error): Problem {
  if (error instanceof Problem) return error;
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
