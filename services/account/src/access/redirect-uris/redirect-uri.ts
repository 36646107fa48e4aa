export const REDIRECT_URIS_MAX = 10;
export const REDIRECT_URI_MAX_CHARACTERS = 2_000;

/** RFC 3986's characters: what browsers and servers would read differently is refused, not normalized. */
const PLAIN_URI = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~!$&'()*+,;=:@/?%[\]-]+$/;

const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/** RFC 8252, section 7.1: the reverse of a domain name, so that it belongs to the application's developer. */
const PRIVATE_USE_SCHEME = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:\/(?!\/)/;

/** With or without a port, which an application on the person's computer chooses when it starts (RFC 8252, section 7.3). */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(?=[/?]|$)/;

/** Why the URI can't be registered; undefined if it can. */
export function redirectUriFault(uri: string): string | undefined {
  if (!PLAIN_URI.test(uri) || BROKEN_ESCAPE.test(uri) || !URL.canParse(uri)) {
    return 'must be an absolute URI without a fragment';
  }
  if (PRIVATE_USE_SCHEME.test(uri)) return undefined;
  const { protocol, username, password, hostname, href, pathname } = new URL(uri);
  if (username !== '' || password !== '') return 'must not contain a user name or a password';
  if (LOOPBACK.test(uri)) return undefined;
  if (protocol === 'http:') return 'must use https; http is for 127.0.0.1, [::1] and localhost only';
  if (protocol !== 'https:') {
    return 'must use https, http to the loopback address, or a scheme with a dot, such as com.example.app:/callback';
  }
  if (hostname.includes('*')) return 'must name one host, without a wildcard';
  // Otherwise a browser goes to another address than the one that is compared and shown.
  const spelled =
    pathname === '/' && !uri.includes('/', 'https://'.length) ? href.replace(/\/(?=\?|$)/, '') : href;
  return spelled === uri ? undefined : `must be spelled as browsers do: ${spelled}`;
}

/** Exactly, except for the port of a loopback address. */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true;
  if (!LOOPBACK.test(uri) || redirectUriFault(uri) !== undefined) return false;
  const anyPort = withoutPort(uri);
  return registered.some((one) => LOOPBACK.test(one) && withoutPort(one) === anyPort);
}

function withoutPort(uri: string): string {
  return uri.replace(LOOPBACK, 'http://$1');
}

/** The host that it leads to; null for an application on the person's own device. */
export function redirectHost(uri: string): string | null {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' ? host : null;
}
