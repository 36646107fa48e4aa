import { randomBytes } from 'node:crypto';
import type { SignInSecrets } from './relying-party.ts';

/** How long a sign-in may take at the provider. */
export const SIGN_IN_LIFETIME_SEC = 600;

export function newSignInSecrets(): SignInSecrets {
  const random = () => randomBytes(32).toString('base64url');
  return { state: random(), nonce: random(), code_verifier: random() };
}
