/**
 * A second line of defence, against secrets in a library's error message. There is no word boundary before a token or
 * key in `%3Dtg_…`, and a token's prefix stays because the `n` of a JSON escape `\n` looks like a part of it.
 * Repetitions are bounded: a caller chooses the path that is logged.
 */
const TOKEN = /_[0-9A-Za-z]{22}_[0-9A-Za-z]{8,128}/g;
/** Keys of the payment provider: secret, restricted, and signing secrets of webhooks. */
const PAYMENT_KEY = /((?:sk|rk)_(?:test|live)_|whsec_)[\w+/=-]{8,255}/g;
const URL_PASSWORD = /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s:@/"]{0,256}):(?:\\.|[^\s"\\]){1,512}@/gi;

/** A query or form parameter, also one in a percent-encoded value. */
const SECRET_PARAMETER = /((?:token|secret|password|assertion)(?:=|%3d))[^&\s"'\\<>;,]{1,2048}/gi;

const ENCODED_AMPERSAND = /%26.*$/i;

/** Replaces tokens, secret parameters and URL passwords in JSON or plain text. */
export function redact(line: string): string {
  const withoutTokens = line.replace(PAYMENT_KEY, '$1[key]').replace(TOKEN, '_[token]');
  // The search is slow, and most lines have no URL.
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

const MAX_PATH_CHARACTERS = 256;

/** A request target without its query, which may contain a token, and cut to a maximum. */
export function loggedPath(target: string): string {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  // Redacted before the cut, after which a token may not look like one.
  return path.length <= MAX_PATH_CHARACTERS ? path : `${redact(path).slice(0, MAX_PATH_CHARACTERS)}…`;
}
