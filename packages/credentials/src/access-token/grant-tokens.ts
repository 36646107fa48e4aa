import { createHmac, randomBytes } from 'node:crypto';
import { accessTokenOf } from './access-token.ts';

/** Codes and refresh tokens have an access token's shape under prefixes of their own, so none is taken for another. */
export function codePrefix(tokenPrefix: string): string {
  return `${tokenPrefix}c`;
}

export function refreshTokenPrefix(tokenPrefix: string): string {
  return `${tokenPrefix}r`;
}

/** With the refresh token that it belongs to, it gives that token's successor and access token; alone it gives nothing. */
export function newNonce(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * A token derived from a refresh token: both give the same one again, so that it is stored nowhere
 * (docs/design/authorization.md). The prefix separates the access token from the successor, and `scope` access tokens of
 * different rights.
 */
export function derivedToken(
  refreshToken: string,
  nonce: string,
  { prefix, clientId, scope }: { prefix: string; clientId: string; scope?: string },
): string {
  const about = [prefix, nonce, ...(scope === undefined ? [] : [scope])].join(' ');
  const secret = createHmac('sha256', refreshToken).update(about).digest();
  return accessTokenOf(prefix, clientId, secret);
}
