import type { z } from 'zod';
import { Problem } from './problem.ts';
import type { FieldError } from './problem.ts';

/**
 * The 400 for faulty fields: `errors` names each with what is wanted, and `detail` says the same in one
 * sentence. A field with several faults is named once, with the first.
 */
export function invalidFields(errors: readonly FieldError[]): Problem {
  const first = [...new Map(errors.toReversed().map((error) => [error.field, error])).values()].toReversed();
  const sentence = first.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
  return new Problem('invalid_request', { detail: `${sentence.join('; ')}.`, errors: first });
}

/** The same for what a zod schema found wrong with a JSON object. */
export function invalidInput({ issues }: Pick<z.ZodError, 'issues'>): Problem {
  return invalidFields(issues.map(fieldErrorOf));
}

/** Members that nobody asked for aren't repeated: they are as long and as odd as the caller likes. */
function fieldErrorOf({ code, path, message }: z.core.$ZodIssue): FieldError {
  const field = path.join('.');
  if (code === 'unrecognized_keys') return { field, message: 'there are unknown members' };
  return { field, message: field === '' ? 'the body must be a JSON object' : message };
}
