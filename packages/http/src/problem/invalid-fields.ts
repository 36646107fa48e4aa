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
  return invalidFields(issues.flatMap(fieldErrorsOf));
}

/** How many unknown members are named; the caller can send as many as it likes. */
const NAMED_UNKNOWN_MAX = 10;

/** A member's name that is repeated: shorter than any secret or token that is sent in its place by mistake. */
const PLAIN_NAME = /^[A-Za-z][\w-]{0,31}$/;

function fieldErrorsOf(issue: z.core.$ZodIssue): FieldError[] {
  const field = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') {
    return [{ field, message: field === '' ? 'the body must be a JSON object' : issue.message }];
  }
  const named = issue.keys.filter((key) => PLAIN_NAME.test(key)).slice(0, NAMED_UNKNOWN_MAX);
  const unknown = named.map((key) => ({
    field: [...issue.path, key].join('.'),
    message: 'is not allowed here',
  }));
  if (named.length === issue.keys.length) return unknown;
  return [...unknown, { field, message: 'there are unknown members' }];
}
