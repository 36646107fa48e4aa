import parse from 'spdx-expression-parse';
import type { Info } from 'spdx-expression-parse';

/** Licences that ask for no more than a copy of their text. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  // Fonts.
  'OFL-1.1',
]);

/** Whether a package may be in an image: of an `OR` one licence is enough, of an `AND` all must be allowed. */
export function isAllowed(expression: string): boolean {
  try {
    return holds(parse(expression));
  } catch {
    // Words, or nothing.
    return false;
  }
}

function holds(info: Info): boolean {
  if ('license' in info) return ALLOWED.has(info.license);
  if (info.conjunction === 'or') return holds(info.left) || holds(info.right);
  return holds(info.left) && holds(info.right);
}
