/** What a browser's own cache takes of Cache-Control (RFC 9111, section 5.2.2; RFC 5861; RFC 8246). */
const FOR_PRIVATE_CACHES =
  /^(?:no-cache|no-store|no-transform|must-revalidate|immutable|(?:max-age|stale-while-revalidate|stale-if-error)=\d+)$/;

const QUOTED = /"((?:[^"\\]|\\.)*)(?:"|$)/g;

/**
 * The Cache-Control of a response that was made for a token: the upstream's without what addresses or permits shared
 * caches (docs/design/forwarding.md). An extension may do either, so that only known directives pass. `no-cache` and
 * `private` lose their lists of fields, since the whole response is confidential.
 */
export function privateCacheControl(stated: string | readonly string[] = ''): string {
  const unquoted = String(stated).replace(QUOTED, (_whole, text: string) => (/^\d+$/.test(text) ? text : ''));
  const directives = unquoted.split(',').map((one) => one.trim().toLowerCase().replace(/=$/, ''));
  return ['private', ...directives.filter((one) => FOR_PRIVATE_CACHES.test(one))].join(', ');
}
