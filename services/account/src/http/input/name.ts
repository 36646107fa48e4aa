import { z } from 'zod';
import { describedAs } from './described-as.ts';
import { isVisible, textFault } from './visible-text.ts';

/** As `char_length(name) BETWEEN 1 AND 200` in the tables. */
const NAME_MAX_CHARACTERS = 200;

const DESCRIPTION = 'Without control characters, bidirectional controls and tag characters.';

const text = () => z.string('must be text');

/** Everything that people call something by. */
export const nameSchema = describedAs(text().superRefine(refuse(nameFault)), {
  type: 'string',
  minLength: 1,
  maxLength: NAME_MAX_CHARACTERS,
  description: `With at least one visible character. ${DESCRIPTION}`,
});

/** A text beside a name, which may be empty. */
export const descriptionSchema = describedAs(
  text().superRefine(refuse((value) => lengthFault(value, 0) ?? textFault(value))),
  { type: 'string', maxLength: NAME_MAX_CHARACTERS, description: DESCRIPTION },
);

const NOTE_MAX_CHARACTERS = 1_000;

/** For those who work with something, beside its fields. */
export const noteSchema = describedAs(
  text().superRefine(refuse((value) => lengthFault(value, 1, NOTE_MAX_CHARACTERS) ?? textFault(value))),
  { type: 'string', minLength: 1, maxLength: NOTE_MAX_CHARACTERS, description: DESCRIPTION },
);

/** A line in the catalogue of plans; space around it goes. */
export const lineSchema = text().trim().superRefine(refuse(nameFault));

function nameFault(value: string): string | undefined {
  const visible = isVisible(value) ? undefined : 'must have at least one visible character';
  return lengthFault(value, 1) ?? textFault(value) ?? visible;
}

function lengthFault(value: string, min: number, max = NAME_MAX_CHARACTERS): string | undefined {
  const { length } = Array.from(value);
  if (length >= min && length <= max) return undefined;
  return `must have ${String(min)} to ${String(max)} characters`;
}

/** One fault of a field at a time, without the end of the other fields' checks that `abort` would be. */
function refuse(faultOf: (value: string) => string | undefined) {
  return (value: string, context: z.RefinementCtx) => {
    const message = faultOf(value);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  };
}
