import { z } from 'zod';
import { describedAs } from './described-as.ts';

/** As `char_length(name) BETWEEN 1 AND 200` in the tables. */
const NAME_MAX_CHARACTERS = 200;

export const nameSchema = describedAs(
  z
    .string('must be text')
    .refine(
      (value) => value.trim() !== '' && Array.from(value).length <= NAME_MAX_CHARACTERS,
      `must have 1 to ${String(NAME_MAX_CHARACTERS)} characters, not only white space`,
    )
    .refine(
      (value) => value.isWellFormed() && !/\p{Cc}/u.test(value),
      'must be Unicode text without control characters',
    ),
  {
    type: 'string',
    minLength: 1,
    maxLength: NAME_MAX_CHARACTERS,
    description: 'Not only white space, without control characters.',
  },
);
