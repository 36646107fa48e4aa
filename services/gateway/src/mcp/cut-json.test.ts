import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cutJson } from './cut-json.ts';

test('is JSON that fits, and a beginning of what it was cut from', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.integer({ min: 2, max: 200 }),
      (value, maxBytes) => {
        const text = JSON.stringify(value);
        const cut = cutJson(text, maxBytes);
        if (cut === null) return;
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
        expect(() => JSON.parse(cut) as unknown).not.toThrow();
        expect(text.startsWith(cut.replace(/[\]}]*$/, ''))).toBe(true);
      },
    ),
  );
});

test.each([
  ['{"data":{"a":1,"b":22}}', 17, '{"data":{"a":1}}'],
  ['{"data":{"a":"x,}]","b":2}}', 22, '{"data":{"a":"x,}]"}}'],
  ['{"data":{"a":"\\"}","b":2}}', 21, '{"data":{"a":"\\"}"}}'],
  ['{"data":"a long text"}', 12, null],
  ['[{"a":1},{"a":2}]', 12, '[{"a":1}]'],
  ['"a long text"', 6, null],
])('%s in %i bytes', (text, maxBytes, expected) => {
  expect(cutJson(text, maxBytes)).toBe(expected);
});
