import { createHmac, timingSafeEqual } from 'node:crypto';

/** The request header that carries it. */
export const CSRF_HEADER = 'x-csrf-token';

/**
 * The token that a page of ours sends along with every unsafe request of a session: a keyed hash of the session's
 * own secret, so that it is bound to this session, changes with it, is stored nowhere, and tells nothing of it.
 */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

export function isCsrfTokenOf(sessionToken: string, given: string | undefined): boolean {
  const wanted = Buffer.from(csrfTokenOf(sessionToken));
  const sent = Buffer.from(given ?? '');
  return sent.length === wanted.length && timingSafeEqual(sent, wanted);
}
