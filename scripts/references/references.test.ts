import { expect, test } from '@jest/globals';
import { withParts } from './markdown.ts';
import { references } from './references.ts';

test('generated lists are as the code has them (npm run references writes them)', () => {
  for (const { path, is, should } of references('.')) expect(`${path}\n${is}`).toBe(`${path}\n${should}`);
});

test('a part without a place, or a place without a part, is a fault', () => {
  const document = 'Before\n\n<!-- generated: a -->\n\nold\n\n<!-- end -->\n\nAfter\n';
  expect(withParts(document, { a: 'new' })).toBe(document.replace('old', 'new'));
  expect(() => withParts(document, {})).toThrow('places');
  expect(() => withParts(document, { a: 'new', b: 'more' })).toThrow('places');
});
