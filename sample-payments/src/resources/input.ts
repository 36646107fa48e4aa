import { z } from 'zod';

/** Forms have only text. */
export const whole = z
  .string()
  .regex(/^-?\d{1,15}$/, 'Invalid integer')
  .transform(Number);
export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
export const metadata = z.record(z.string().max(40), z.string().max(500));
/** Stripe takes '' for "none". */
export const metadataOrNone = z.union([z.literal('').transform(() => ({})), metadata]);

/** A member set to '' is removed (docs.stripe.com/api/metadata). */
export function mergeMetadata(present: Record<string, string>, changes: Record<string, string> | undefined) {
  const merged = { ...present, ...changes };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ''));
}
