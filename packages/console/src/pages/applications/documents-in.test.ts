import { expect, test } from '@jest/globals';
import { documentsIn } from './documents-in.ts';

test.each([
  ['a manifest of Apollo', '{"format":"x","operations":[{"id":"a","name":"A","body":"{ a }"}]}', 'a'],
  ['a manifest of Relay', '{"a":"{ a }"}', 'a'],
])('%s has texts by their ids', (_what, file, document_id) => {
  expect(documentsIn(file)).toEqual([{ document_id, text: '{ a }' }]);
});

test('any other file is one document', () => {
  expect(documentsIn('{ a }')).toEqual([{ text: '{ a }' }]);
  expect(documentsIn('')).toEqual([{ text: '' }]);
});
