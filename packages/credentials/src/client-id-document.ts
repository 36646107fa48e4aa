import { hash } from 'node:crypto';

/**
 * The client ID under which an application is kept whose own is the address of a document about it: a UUID, as all
 * others are, so that tokens, caches and revocations need no second kind. Version 8 (RFC 9562, section 5.8), which no
 * drawn one has, of SHA-256.
 */
export function documentClientId(url: string): string {
  const digits = hash('sha256', `client-id-document ${url}`, 'hex');
  const variant = ((Number.parseInt(digits.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `${variant}${digits.slice(18, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}

/** Whether a client ID is an address. Which ones may be read is account's to say. */
export function isDocumentClientId(clientId: string): boolean {
  return clientId.startsWith('https://');
}
