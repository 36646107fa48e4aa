import { z } from 'zod';
import type { Described } from './operation.ts';

/** Why an operator changes something, in words of their own: for the audit log. */
export const REASON_HEADER = 'X-Reason';

const MIN_CHARACTERS = 3;
const MAX_CHARACTERS = 500;

/** In characters, not UTF-16 units; no control characters. */
const TEXT = new RegExp(`^\\P{Cc}{${String(MIN_CHARACTERS)},${String(MAX_CHARACTERS)}}$`, 'u');

const WHAT = `must be ${String(MIN_CHARACTERS)} to ${String(MAX_CHARACTERS)} characters of text, percent-encoded`;

/** Header fields have only ASCII characters that every client can send, so the text is percent-encoded UTF-8. */
const reasonField = z
  .string('is needed here: say why')
  .transform((encoded, context) => {
    try {
      return decodeURIComponent(encoded).trim();
    } catch {
      context.addIssue({ code: 'custom', message: WHAT });
      return z.NEVER;
    }
  })
  .refine((text) => TEXT.test(text), WHAT);

const REQUIRED = z.object({ [REASON_HEADER]: reasonField });
const OPTIONAL = z.object({ [REASON_HEADER]: reasonField.optional() });

/** The header of an operation: none where nothing is changed, or the caller isn't an operator. */
export function reasonHeaders({
  caller,
  method,
  needsReason = false,
}: Pick<Described, 'caller' | 'method' | 'needsReason'>): typeof REQUIRED | typeof OPTIONAL | undefined {
  if (caller !== 'operator' || method === 'GET') return undefined;
  return needsReason ? REQUIRED : OPTIONAL;
}
