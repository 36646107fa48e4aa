import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isNestedBeyond, itemTexts, memberTexts, rewritten } from './json-text.ts';

/** JSON with blanks and escapes anywhere, of a value. */
const written = fc
  .tuple(fc.jsonValue(), fc.constantFrom('', '\n', ' \t'), fc.boolean())
  .map(([value, blank, isEscaped]) => {
    const text = JSON.stringify(value, null, blank);
    return isEscaped ? text.replaceAll('e', '\\u0065') : text;
  })
  // Escapes stand in strings only.
  .filter((text) => isJson(text));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const members = fc.array(fc.tuple(fc.string(), written), { maxLength: 6 });
const objectOf = (all: readonly (readonly [string, string])[]) =>
  `{${all.map(([name, text]) => `${JSON.stringify(name)} : ${text}`).join()}}`;

test('the texts of members and items are those that JSON.parse reads', () => {
  fc.assert(
    fc.property(members, (all) => {
      const json = objectOf(all);
      const texts = [...memberTexts(json)].map(([name, text]): [string, unknown] => [name, JSON.parse(text)]);
      // Of two members with one name, the last one.
      expect(new Map(texts)).toEqual(new Map(all.map(([name, text]) => [name, JSON.parse(text)])));
      const list = all.map(([, text]) => text);
      expect(itemTexts(`[${list.join()}]`).map((text) => text.trim())).toEqual(
        list.length === 0 ? [''] : list.map((text) => text.trim()),
      );
    }),
  );
});

test('what is not changed is written as it was, in parts that are changed, too', () => {
  const json = '{"a":1.0, "b" : {"c":12345678901234567890,"d":-0}, "e":[1e2], "b2":{"x":1.0}}';
  const original = JSON.parse(json) as Record<string, unknown>;
  const b = original['b'] as Record<string, unknown>;
  expect(rewritten(json, original, { ...original, query: '{ q }', b: { c: b['c'] } })).toBe(
    '{"a":1.0,"b":{"c":12345678901234567890},"e":[1e2],"b2":{"x":1.0},"query":"{ q }"}',
  );
});

test('the same values come back, whatever the members are', () => {
  fc.assert(
    fc.property(members, (all) => {
      const json = objectOf(all);
      const original = JSON.parse(json) as Record<string, unknown>;
      expect(JSON.parse(rewritten(json, original, original))).toEqual(original);
    }),
  );
});

test.each([
  ['[[]]', 2, false],
  ['[[]]', 1, true],
  ['{"a":[{}]}', 2, true],
  ['{"a":"[[[["}', 1, false],
  ['["\\"[[["]', 1, false],
  ['[]'.repeat(50), 1, false],
  // Not valid, and not longer than it is.
  ['["[[', 1, false],
  ['[[[', 2, true],
])('%s is nested beyond %i levels: %p', (json, levels, isBeyond) => {
  expect(isNestedBeyond(json, levels)).toBe(isBeyond);
});
