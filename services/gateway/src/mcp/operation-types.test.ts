import { expect, test } from '@jest/globals';
import { operationTypesIn } from './operation-types.ts';

const limits = { maxDocumentBytes: 100, maxTokens: 0 };

test('a document that is too long isn’t parsed: its comments and strings would take time', () => {
  const document = 'mutation { a }';
  const types = { hasMutation: true, hasSubscription: false };
  expect(operationTypesIn(`${document} #${'x'.repeat(80)}`, limits)).toEqual(types);
  for (const text of [`${document} #${'x'.repeat(100)}`, `{ ${'x'.repeat(100)}`]) {
    expect(() => operationTypesIn(text, limits)).toThrow(
      expect.objectContaining({ code: 'document_too_large', extensions: { limit: 100 } }),
    );
  }
});
