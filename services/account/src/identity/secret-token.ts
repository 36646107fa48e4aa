import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** 256 random bits as base64url. */
export function newSecretToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** The only stored form. The token is random, so it needs no salt and no slow hash. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

const SHAPE = /^[A-Za-z0-9_-]{43}$/;

export function isSecretToken(text: string): boolean {
  return SHAPE.test(text);
}
