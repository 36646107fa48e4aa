import { isStorable } from './read-value.ts';
import { invalidFilter } from './scim-error.ts';

/** `name eq value` */
export type Term = { name: string; value: string | boolean };

const MAX_CHARACTERS = 1_000;
const MAX_TERMS = 10;

const TERM = /\s*([a-z$][\w$:.-]*)\s+eq\s+("(?:[^"\\]|\\.)*"|true|false)\s*/iy;
const AND = /and\s/iy;

/** Terms joined by `and`; undefined for everything else that a filter may be (RFC 7644, section 3.4.2.2). */
export function parseTerms(text: string): Term[] | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const terms: Term[] = [];
  let at = 0;
  for (;;) {
    TERM.lastIndex = at;
    const [found = '', name = '', literal = ''] = TERM.exec(text) ?? [];
    const value = valueOf(literal);
    if (value === undefined || terms.length === MAX_TERMS) return undefined;
    terms.push({ name, value });
    at += found.length;
    if (at === text.length) return terms;
    AND.lastIndex = at;
    const [and] = AND.exec(text) ?? [];
    if (and === undefined || !/\s$/.test(found)) return undefined;
    at += and.length;
  }
}

function valueOf(literal: string): string | boolean | undefined {
  if (/^(?:true|false)$/i.test(literal)) return literal.toLowerCase() === 'true';
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' && isStorable(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A list's filter, with names as in `known`, which may stand after the schema. An attribute that isn't there is refused:
 * a directory that asks for one person must never be given everyone. @throws {ScimError} invalidFilter
 */
export function parseFilter<const Known extends string>(
  text: string,
  { schemaId, known }: { schemaId: string; known: readonly Known[] },
): { name: Known; value: string }[] {
  const terms = parseTerms(text);
  if (terms === undefined) {
    throw invalidFilter('The filter must compare by eq, joined by and.');
  }
  return terms.map(({ name, value }) => {
    const prefix = `${schemaId}:`.toLowerCase();
    const lower = name.toLowerCase();
    const bare = lower.startsWith(prefix) ? lower.slice(prefix.length) : lower;
    const found = known.find((one) => one.toLowerCase() === bare);
    if (found === undefined || typeof value !== 'string') {
      throw invalidFilter(`The filter can compare ${known.join(', ')} with text.`);
    }
    return { name: found, value };
  });
}
