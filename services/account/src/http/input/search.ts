import { z } from 'zod';
import { describedAs } from './described-as.ts';

const SEARCH_MAX_CHARACTERS = 200;

/** Text to find in a list. Postgres stores no NUL, so it is in nothing. */
export const searchField = describedAs(
  z
    .string('must be text')
    .max(SEARCH_MAX_CHARACTERS, `must have at most ${String(SEARCH_MAX_CHARACTERS)} characters`)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be Unicode text without NUL')
    .transform((value) => value.trim())
    .transform((value) => (value === '' ? undefined : value)),
  { type: 'string', maxLength: SEARCH_MAX_CHARACTERS, description: 'In either case.' },
);
