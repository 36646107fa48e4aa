import { bearerToken } from '../authenticate/authenticate.ts';

/** The bearer token that a request shows, whatever it is worth; undefined where there is none, or no single one. */
export function presentedToken(rawHeaders: readonly string[]): string | undefined {
  try {
    return bearerToken(rawHeaders);
  } catch {
    return undefined;
  }
}
