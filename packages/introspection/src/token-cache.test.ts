import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createTokenCache } from './token-cache.ts';

test('whatever is set, pushed out and dropped: no token of a dropped application is left', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), token: fc.nat(20) }),
    fc.record({ kind: fc.constant('drop' as const), token: fc.nat(20) }),
    fc.record({ kind: fc.constant('dropApplication' as const), token: fc.nat(20) }),
    fc.record({ kind: fc.constant('clear' as const), token: fc.nat(20) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 10 }), (steps, max) => {
      const cache = createTokenCache(max);
      const application = (token: number) => `application-${String(token % 3)}`;
      const held = new Set<number>();
      for (const { kind, token } of steps) {
        if (kind === 'set') {
          cache.set(String(token), application(token), null, 60_000);
          held.add(token);
        } else if (kind === 'drop') {
          cache.drop(String(token));
          held.delete(token);
        } else if (kind === 'clear') {
          cache.clear();
          held.clear();
        } else {
          cache.dropApplication(application(token));
          for (const other of held) if (application(other) === application(token)) held.delete(other);
        }
        const found = Array.from({ length: 21 }, (_, one) => one).filter(
          (one) => cache.get(String(one)) !== undefined,
        );
        expect(found.length).toBeLessThanOrEqual(max);
        expect(found.filter((one) => !held.has(one))).toEqual([]);
        if (kind === 'set') expect(found).toContain(token);
      }
    }),
  );
});
