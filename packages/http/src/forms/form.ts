import { Problem } from '../problem/problem.ts';

/** The fields of a form body by name. A field without a value is absent. */
export type Form = ReadonlyMap<string, string>;

// A byte order mark stays (ignoreBOM): without it two readers of the same bytes would see different names.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads an `application/x-www-form-urlencoded` body by the rules of RFC 6749: encoded as appendix B says, no
 * field twice, a field without a value counts as omitted (section 3.2).
 *
 * Stricter than URLSearchParams, which turns bytes that aren't UTF-8 into U+FFFD and lets a broken `%` pass:
 * two readers of the same body would then see different secrets.
 *
 * @throws {Problem} invalid_request
 */
export function parseForm(body: Uint8Array): Form {
  const form = new Map<string, string>();
  const seen = new Set<string>();
  for (const field of decodeUtf8(body).split('&')) {
    if (field === '') continue;
    const equals = field.indexOf('=');
    const name = decodeField(equals === -1 ? field : field.slice(0, equals));
    const value = equals === -1 ? '' : decodeField(field.slice(equals + 1));
    if (seen.has(name)) throw new Problem('invalid_request', { detail: 'A parameter is given twice.' });
    seen.add(name);
    if (value !== '') form.set(name, value);
  }
  return form;
}

/** What decoding would leave as it is. Most fields are: ids, secrets and tokens. */
const PLAIN = /^[\w.~-]*$/;

/** Decodes one form-encoded text (RFC 6749, appendix B); null where it is broken or holds a NUL. */
export function formDecode(text: string): string | null {
  if (PLAIN.test(text)) return text;
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '));
    return decoded.includes('\0') ? null : decoded;
  } catch {
    return null;
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Problem('invalid_request', { detail: 'The body must be UTF-8.' });
  }
}

function decodeField(text: string): string {
  const decoded = formDecode(text);
  if (decoded === null)
    throw new Problem('invalid_request', { detail: 'The body is not a well-formed form.' });
  return decoded;
}
