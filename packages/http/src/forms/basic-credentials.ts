import { decodeUtf8, formDecode } from './form.ts';

/** Canonical base64: Buffer.from would skip anything else. */
const BASIC = /^basic +((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)$/i;

/** The form-decoded id and secret (RFC 6749, section 2.3.1) of an `Authorization: Basic` header, or null. */
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
