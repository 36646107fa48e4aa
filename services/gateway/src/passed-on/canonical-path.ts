/** RFC 3986's path characters, percent-encoding included. */
const PATH = /^(?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)+$/;

/** What the next server could decode into structure: `.`, `/`, `%`, `\` and control characters. */
const ENCODED_STRUCTURE = /%(?:2e|2f|25|5c|[01][0-9a-f]|7f)/i;

/** Empty segments, and dot segments, also with parameters, which some servers strip. */
const IRREGULAR_SEGMENT = /\/\/|\/\.{1,2}(?:[/;]|$)/;

/** Whether every server reads a path alike. */
export function isCanonicalPath(path: string): boolean {
  return PATH.test(path) && !ENCODED_STRUCTURE.test(path) && !IRREGULAR_SEGMENT.test(path);
}

/** Whether a canonical path is `prefix` or lies below it. */
export function isAtOrBelow(path: string, prefix: string): boolean {
  return isCanonicalPath(path) && (path === prefix || path.startsWith(`${prefix}/`));
}
