import { formDecode } from './form.ts';

/** Canonical base64 only: Buffer.from would skip over anything else. */
const BASIC = /^basic +((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)$/i;

// A byte order mark stays (ignoreBOM): without it two readers of the same bytes would see different names.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the id and secret of an `Authorization: Basic …` header, both form-decoded as OAuth wants it
 * (RFC 6749, section 2.3.1); null where the header is anything else.
 */
export function parseBasic(authorization: string): { id: string; secret: string } | null {
  const encoded = BASIC.exec(authorization)?.[1];
  if (encoded === undefined) return null;
  const pair = decodeUtf8(Buffer.from(encoded, 'base64'));
  const colon = pair?.indexOf(':') ?? -1;
  if (pair === null || colon === -1) return null;
  const id = formDecode(pair.slice(0, colon));
  const secret = formDecode(pair.slice(colon + 1));
  return id === null || secret === null ? null : { id, secret };
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}
