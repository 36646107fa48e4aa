import { COMMON_PASSWORDS } from './common-passwords.ts';

/** In code points. The maximum is well above what password managers generate. */
export const PASSWORD_CHARACTERS = { min: 8, max: 200 };

/** A shorter local part occurs in too many good passwords. */
const TELLING_CHARACTERS = 4;

/** The fault of a new password, or undefined. Length and guessability only (NIST SP 800-63B, section 3.1.1.2). */
export function passwordFault(password: string, email: string): string | undefined {
  const characters = Array.from(password);
  const { min, max } = PASSWORD_CHARACTERS;
  if (characters.length < min || characters.length > max) {
    return `must have ${String(min)} to ${String(max)} characters`;
  }
  if (!password.isWellFormed()) return 'must be Unicode text';
  const plain = password.normalize('NFKC').toLowerCase();
  if (COMMON_PASSWORDS.has(plain) || new Set(plain).size === 1) return 'is one of the commonest passwords';
  const address = email.toLowerCase();
  const [local = ''] = address.split('@');
  if (plain.includes(address) || (local.length >= TELLING_CHARACTERS && plain.includes(local))) {
    return 'must not contain the email address';
  }
  return undefined;
}
