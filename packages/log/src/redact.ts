/**
 * An access token, whatever its prefix (packages/credentials), whole or cut, and the password of a URL. The first
 * line of defence is not to log them; this second one catches the token that a library put into its error message.
 *
 * Neither wants a word boundary: in `%3Dtg_…` there is none before the token. A token's prefix stays, because
 * the `n` of a JSON escape `\n` before it looks like a part of it. All repetitions are bounded: a caller
 * chooses the path that is logged, and must not choose how long the search takes.
 */
const TOKEN = /_[0-9A-Za-z]{22}_[0-9A-Za-z]{8,128}/g;
const URL_PASSWORD = /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s:@/"]{0,256}):(?:\\.|[^\s"\\]){1,512}@/gi;

/** A parameter of a query or a form, also of one that is a value itself and therefore percent-encoded. */
const SECRET_PARAMETER = /((?:token|secret|password|assertion)(?:=|%3d))[^&\s"'\\<>;,]{1,2048}/gi;

/** The value of an encoded parameter ends where the next one, encoded as well, begins. */
const ENCODED_AMPERSAND = /%26.*$/i;

/** Replaces what looks like a token, a secret parameter or a URL's password, in a line of JSON or plain text. */
export function redact(line: string): string {
  const withoutTokens = line.replace(TOKEN, '_[token]');
  // The second search begins at every letter, and most lines have no URL.
  const withoutPasswords = withoutTokens.includes('://')
    ? withoutTokens.replace(URL_PASSWORD, '$1:[password]@')
    : withoutTokens;
  return /=|%3d/i.test(withoutPasswords)
    ? withoutPasswords.replace(SECRET_PARAMETER, (found: string, name: string) => {
        const rest = name.endsWith('=') ? '' : (ENCODED_AMPERSAND.exec(found)?.[0] ?? '');
        return `${name}[redacted]${rest}`;
      })
    : withoutPasswords;
}

/** The longest path in a line, in characters. */
const MAX_PATH = 256;

/** A request target as logs have it: without its query string, which may hold a token, and not longer than a bound. */
export function loggedPath(target: string): string {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  // Before the cut: a part of a token need not look like one.
  return path.length <= MAX_PATH ? path : `${redact(path).slice(0, MAX_PATH)}…`;
}
