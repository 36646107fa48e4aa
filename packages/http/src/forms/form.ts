import { Problem } from '../problem/problem.ts';

/** Form fields by name; a field without a value is absent. */
export type Form = ReadonlyMap<string, string>;

// ignoreBOM keeps a byte order mark, which others may take for part of a name.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a form by RFC 6749 (section 3.2, appendix B). URLSearchParams accepts broken UTF-8 and `%`, so that two
 * readers could see different secrets.
 * @throws {Problem} invalid_request, also for a repeated field
 */
export function parseForm(body: Uint8Array): Form {
  const text = decodeUtf8(body);
  if (text === null) throw new Problem('invalid_request', { detail: 'The body must be UTF-8.' });
  const form = new Map<string, string>();
  const seen = new Set<string>();
  for (const field of text.split('&')) {
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

const PLAIN = /^[\w.~-]*$/;

/** Decodes form-encoded text (RFC 6749, appendix B); null if it is broken or has a NUL. */
export function formDecode(text: string): string | null {
  if (PLAIN.test(text)) return text;
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '));
    return decoded.includes('\0') ? null : decoded;
  } catch {
    return null;
  }
}

export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

function decodeField(text: string): string {
  const decoded = formDecode(text);
  if (decoded === null)
    throw new Problem('invalid_request', { detail: 'The body is not a well-formed form.' });
  return decoded;
}
