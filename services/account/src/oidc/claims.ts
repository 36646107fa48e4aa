export type Claims = Readonly<Record<string, unknown>>;

const MAX_NAME_LENGTH = 200;
const MAX_EMAIL_LENGTH = 254;

/** What the database holds. */
export function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxLength && !/\p{Cc}/u.test(value);
}

/** True, false, or null where the provider doesn't say. Some send text. */
export function emailVerified({ email_verified: verified }: Claims): boolean | null {
  if (verified === undefined || verified === null) return null;
  return verified === true || verified === 'true';
}

export function emailOf({ email }: Claims): string | null {
  return isText(email, MAX_EMAIL_LENGTH) && email.length >= 3 ? email : null;
}

/** To show; null if there is none. */
export function nameOf(candidates: readonly unknown[]): string | null {
  const text = candidates.find((one): one is string => typeof one === 'string' && clean(one) !== '');
  return text === undefined ? null : clean(text);
}

function clean(text: string): string {
  return Array.from(text.replaceAll(/\p{C}/gu, ' ').trim()).slice(0, MAX_NAME_LENGTH).join('').trim();
}
