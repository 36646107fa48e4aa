import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareStreamIds, nextStreamId, streamIdMs } from './stream-id.ts';

const UINT64_MAX = 2n ** 64n - 1n;

/** Parts near each other, near a change of length, and anywhere. */
const part = fc.oneof(
  fc.bigInt({ min: 0n, max: 12n }),
  fc.constantFrom(99n, 100n, 1_785_000_000_000n, 1_785_000_000_001n, UINT64_MAX - 1n, UINT64_MAX),
  fc.bigInt({ min: 0n, max: UINT64_MAX }),
);

const streamId = fc.tuple(part, part).map(([ms, sequence]) => `${String(ms)}-${String(sequence)}`);

/** Second formulation: both parts padded to one width sort as text. */
function sortable(id: string): string {
  return id
    .split('-')
    .map((digits) => digits.padStart(20, '0'))
    .join('-');
}

describe('stream ids', () => {
  test('are ordered by number, not as text', () => {
    expect(compareStreamIds('9-0', '10-0')).toBeLessThan(0);
    expect(compareStreamIds('5-10', '5-9')).toBeGreaterThan(0);
    expect(compareStreamIds('5-1', '5-1')).toBe(0);
    expect(compareStreamIds('9007199254740993-0', '9007199254740992-0')).toBeGreaterThan(0);
  });

  test('are ordered as their padded text is', () => {
    fc.assert(
      fc.property(streamId, streamId, (one, other) => {
        const [first, second] = [sortable(one), sortable(other)];
        expect(compareStreamIds(one, other)).toBe(first < second ? -1 : first > second ? 1 : 0);
      }),
      { numRuns: 2_000 },
    );
  });

  test('have a next one, and nothing fits between', () => {
    expect(nextStreamId('5-1')).toBe('5-2');
    expect(nextStreamId(`5-${String(UINT64_MAX)}`)).toBe('6-0');
    fc.assert(
      fc.property(streamId, streamId, (id, other) => {
        expect(compareStreamIds(nextStreamId(id), id)).toBe(1);
        const isBetween = compareStreamIds(other, id) > 0 && compareStreamIds(other, nextStreamId(id)) < 0;
        expect(isBetween).toBe(false);
      }),
    );
  });

  test('tell their time', () => {
    expect(streamIdMs('1785000000123-4')).toBe(1_785_000_000_123);
  });
});
