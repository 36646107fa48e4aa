import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cursorOf, listSearch, pageAfter, pageBefore } from './list-search.ts';

test('pages go forth and back over any cursors, and the address names the same page again', () => {
  const cursors = fc.array(fc.integer({ min: 1, max: 2 ** 50 }).map(String), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(cursors, (visited) => {
      let after: string | undefined;
      for (const cursor of visited) {
        after = pageAfter(after, cursor);
        expect(listSearch({ after })).toEqual({ after });
        expect(cursorOf({ after })).toBe(cursor);
      }
      for (const cursor of visited.slice(0, -1).toReversed()) {
        after = pageBefore(after ?? '');
        expect(cursorOf(after === undefined ? {} : { after })).toBe(cursor);
      }
      expect(pageBefore(after ?? '')).toBeUndefined();
    }),
  );
});

test('what an address cannot mean is left out; a search of digits is text', () => {
  expect(listSearch({ search: 12, status: 'active', application: 3, other: 1 })).toEqual({
    search: '12',
    status: 'active',
    application: 3,
  });
  expect(listSearch({ search: {}, status: 1, application: 'x', after: '120_70' })).toEqual({});
  expect(listSearch({ after: '_0' })).toEqual({});
  expect(cursorOf({})).toBeUndefined();
});
