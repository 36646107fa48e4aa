import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { assignedStreams } from './assignment.ts';

const STREAMS = Array.from({ length: 64 }, (_, shard) => shard);
const readers = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 80 });

test('readers that know each other have each stream once, in shares that differ by one at most', () => {
  fc.assert(
    fc.property(readers, (ids) => {
      const shares = ids.map((id) =>
        assignedStreams(
          STREAMS,
          id,
          ids.filter((other) => other !== id),
        ),
      );
      expect(shares.flat().toSorted((one, other) => one - other)).toEqual(STREAMS);
      const sizes = shares.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test('a reader that sees nobody else reads all streams, whether or not it sees itself', () => {
  expect(assignedStreams(STREAMS, 'a', [])).toEqual(STREAMS);
  expect(assignedStreams(STREAMS, 'a', ['a'])).toEqual(STREAMS);
});
