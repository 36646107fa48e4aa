import { z } from 'zod';

/** What Stripe keeps for us with an object is text: how numbers are written there, and read again. */

export const wholeText = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform(Number)
  .pipe(z.int().min(1));

const NEVER = 'never';

/** Days after which points expire; null is never. */
export const expiryText = z.union([z.literal(NEVER).transform(() => null), wholeText]);

export function expiryAsText(days: number | null): string {
  return days === null ? NEVER : String(days);
}
