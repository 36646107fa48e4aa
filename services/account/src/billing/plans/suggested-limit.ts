import { LIMIT_FIELDS, callRulesSchema } from '@tollgate/contracts/entitlement';
import type { LimitField } from '@tollgate/contracts/entitlement';
import { isWithin } from './edit-distance.ts';

const LIMITING = new Set(['limit', 'max', 'maximum', 'maximal', 'cap', 'quota', 'allowance']);
const COUNTING = new Set([
  'per',
  'number',
  'of',
  'count',
  'total',
  'call',
  'data',
  'used',
  'allowed',
  'second',
  'minute',
  'hour',
  'day',
  'month',
  'year',
  'period',
  'billing',
  'monthly',
  'yearly',
]);

const MAX_NAME_EDITS = 2;

const WORDS_OF_LIMITS = LIMIT_FIELDS.map((field) => ({
  field,
  letters: lettersOf(field),
  words: wordsOf(field).filter((word) => !LIMITING.has(word)),
}));

/** The limit that was probably meant: `point_limit`, `maxPoints` and `points-limit` would limit nothing. */
export function suggestedLimit(attribute: string): LimitField | undefined {
  if (LIMIT_FIELDS.some((field) => field === attribute)) return undefined;
  if (Object.hasOwn(callRulesSchema.shape, attribute)) return undefined;
  const letters = lettersOf(attribute);
  const mistyped = WORDS_OF_LIMITS.find((limit) => isWithin(MAX_NAME_EDITS, letters, limit.letters));
  if (mistyped !== undefined) return mistyped.field;
  const words = wordsOf(attribute);
  const subject = words.filter((word) => !isOneOf(LIMITING, word) && !COUNTING.has(word));
  if (subject.length === 0 || !words.some((word) => isOneOf(LIMITING, word))) return undefined;
  return WORDS_OF_LIMITS.find((limit) => subject.every((word) => isOneOf(limit.words, word)))?.field;
}

function isOneOf(known: Iterable<string>, word: string): boolean {
  return [...known].some((one) => one === word || (one.length > 3 && isWithin(1, one, word)));
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Singular words: equal for `pointsLimit`, `Points Limit` and `points_limit`. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/s$/, ''));
}
