import { z } from 'zod';

/** What a person or an application is called: as `char_length(name) BETWEEN 1 AND 200` of the tables. */
const NAME_MAX_CHARACTERS = 200;

export const nameSchema = z
  .string('must be text')
  .refine(
    (value) => value.trim() !== '' && Array.from(value).length <= NAME_MAX_CHARACTERS,
    `must have 1 to ${String(NAME_MAX_CHARACTERS)} characters, not only white space`,
  )
  .refine(
    (value) => value.isWellFormed() && !/\p{Cc}/u.test(value),
    'must be Unicode text without control characters',
  );
