import type { z } from 'zod';
import { Problem } from './problem.ts';
import type { FieldError } from './problem.ts';

/** The 400 for faulty fields, each once with its first fault: as `errors`, and as a sentence in `detail`. */
export function invalidFields(errors: readonly FieldError[]): Problem {
  const first = [...new Map(errors.toReversed().map((error) => [error.field, error])).values()].toReversed();
  const sentence = first.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
  return new Problem('invalid_request', { detail: `${sentence.join('; ')}.`, errors: first });
}

export function invalidInput({ issues }: Pick<z.ZodError, 'issues'>): Problem {
  return invalidFields(issues.flatMap(fieldErrorsOf));
}

const NAMED_UNKNOWN_MAX = 10;

/** Member names that may be quoted: shorter than a secret or token that was sent as a name by mistake. */
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
