import { z } from 'zod';
import { describedAs } from './described-as.ts';
import { isVisible, textFault } from './visible-text.ts';

/** As `char_length(name) BETWEEN 1 AND 200` in the tables. */
const NAME_MAX_CHARACTERS = 200;

const DESCRIPTION = 'Without control characters, bidirectional controls and tag characters.';

/** Everything that people call something by. */
export const nameSchema = describedAs(
  typedText(z.string('must be text'), 1).refine(isVisible, {
    error: 'must have at least one visible character',
    abort: true,
  }),
  {
    type: 'string',
    minLength: 1,
    maxLength: NAME_MAX_CHARACTERS,
    description: `With at least one visible character. ${DESCRIPTION}`,
  },
);

/** A text beside a name, which may be empty. */
export const descriptionSchema = describedAs(typedText(z.string('must be text'), 0), {
  type: 'string',
  maxLength: NAME_MAX_CHARACTERS,
  description: DESCRIPTION,
});

/** A line in the catalogue of plans; space around it goes. */
export const lineSchema = typedText(z.string('must be text').trim(), 1).refine(
  isVisible,
  'must have at least one visible character',
);

function typedText(text: z.ZodString, min: number) {
  return text
    .refine((value) => characters(value) >= min && characters(value) <= NAME_MAX_CHARACTERS, {
      error: `must have ${String(min)} to ${String(NAME_MAX_CHARACTERS)} characters`,
      abort: true,
    })
    .superRefine((value, context) => {
      const message = textFault(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message, continue: false });
    });
}

function characters(text: string): number {
  return Array.from(text).length;
}
