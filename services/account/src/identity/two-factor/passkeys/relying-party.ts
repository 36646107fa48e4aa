import { isIP } from 'node:net';

/** Where passkeys belong to (WebAuthn, section 5.1.2): they work on pages of this origin only. */
export type RelyingParty = { id: string; origin: string };

/**
 * Undefined if passkeys can't work at PUBLIC_URL: browsers want a domain name, and TLS except for localhost. A loopback
 * address counts as localhost at the same port, so that a local installation has passkeys there.
 */
export function relyingPartyOf(publicUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin, port } = new URL(publicUrl);
  if (hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)) {
    return { id: 'localhost', origin: `${protocol}//localhost${port === '' ? '' : `:${port}`}` };
  }
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  return isName && isSecure ? { id: hostname, origin } : undefined;
}
