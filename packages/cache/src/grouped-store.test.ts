import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createGroupedStore } from './grouped-store.ts';

const KEYS = Array.from({ length: 12 }, (_, key) => key);
const GROUPS = [0, 1, 2];

type Entry = { group: number; value: number; expiresAtMs: number };

const step = fc.record({
  kind: fc.constantFrom('set', 'set', 'set', 'drop', 'dropGroup', 'clear', 'wait'),
  key: fc.constantFrom(...KEYS),
  group: fc.constantFrom(...GROUPS),
  ttlMs: fc.nat(100),
});

test('whatever is set, replaced, pushed out and dropped: entries are bounded, current, and found by their group', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 8 }), (steps, max) => {
      const store = createGroupedStore<number, number, number>(max);
      const expected = new Map<number, Entry>();
      let nowMs = 0;
      for (const [value, { kind, key, group, ttlMs }] of steps.entries()) {
        if (kind === 'set') {
          store.set(key, group, value, nowMs + ttlMs);
          expected.set(key, { group, value, expiresAtMs: nowMs + ttlMs });
        } else if (kind === 'drop') {
          store.drop(key);
          expected.delete(key);
        } else if (kind === 'dropGroup') {
          store.dropGroup(group);
          for (const [other, entry] of expected) if (entry.group === group) expected.delete(other);
        } else if (kind === 'clear') {
          store.clear();
          expected.clear();
        } else {
          nowMs += ttlMs;
        }
        const kept = KEYS.filter((one) => store.get(one, nowMs) !== undefined);
        expect(kept.length).toBeLessThanOrEqual(max);
        for (const one of kept) {
          expect(store.get(one, nowMs)).toBe(expected.get(one)?.value);
          expect(nowMs).toBeLessThan(expected.get(one)?.expiresAtMs ?? 0);
        }
        if (kind === 'set' && ttlMs > 0) expect(kept).toContain(key);
        for (const one of GROUPS) {
          const ofGroup = kept.filter((each) => expected.get(each)?.group === one);
          expect(store.keysOf(one).sort((a, b) => a - b)).toEqual(ofGroup);
        }
      }
    }),
  );
});

test('the least recently used entry makes room', () => {
  const store = createGroupedStore<string, string, string>(2);
  for (const key of ['a', 'b']) store.set(key, 'group', key, Infinity);
  store.get('a');
  store.set('c', 'group', 'c', Infinity);
  expect(['a', 'b', 'c'].map((key) => store.get(key))).toEqual(['a', undefined, 'c']);
});
