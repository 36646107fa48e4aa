import { createHmac, timingSafeEqual } from 'node:crypto';

export const CSRF_HEADER = 'x-csrf-token';

/** A keyed hash of the session's secret: bound to the session, stored nowhere, and it doesn't reveal the secret. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

export function isCsrfTokenOf(sessionToken: string, given: string | undefined): boolean {
  const wanted = Buffer.from(csrfTokenOf(sessionToken));
  const sent = Buffer.from(given ?? '');
  return sent.length === wanted.length && timingSafeEqual(sent, wanted);
}
