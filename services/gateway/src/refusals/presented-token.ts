import { bearerToken } from '../pipeline/authenticate/authenticate.ts';

/** A request's bearer token, valid or not; undefined unless there is exactly one. */
export function presentedToken(rawHeaders: readonly string[]): string | undefined {
  try {
    return bearerToken(rawHeaders);
  } catch {
    return undefined;
  }
}
