import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  endsAfterRevoke,
  endsAfterRotation,
  lifespanLabel,
  OVERLAP_SEC,
  previousSecretEnd,
  stateAfterDelete,
  stateAfterRevoke,
  stateAfterRotation,
  TOKEN_LIFESPAN_SEC,
} from './rules.ts';

type Secret = { secret_id: number; expires_at: Date | null };

const step = fc.record({
  waitSec: fc.nat({ max: 1_000_000 }),
  change: fc.oneof(
    { weight: 5, arbitrary: fc.nat({ max: OVERLAP_SEC.max }) },
    { weight: 1, arbitrary: fc.constant('revoke' as const) },
  ),
});

describe('secrets of an application', () => {
  test('whatever is rotated and revoked, at most two are live, and each for as long as was promised', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let nowMs = 0;
        let secrets: Secret[] = [{ secret_id: 0, expires_at: null }];
        const live = () => secrets.filter(({ expires_at }) => expires_at === null || +expires_at > nowMs);
        for (const { waitSec, change } of steps) {
          nowMs += waitSec * 1_000;
          const before = live();
          const now = new Date(nowMs);
          const promised = previousSecretEnd(before);
          expect(promised).toEqual(before.find(({ expires_at }) => expires_at !== null)?.expires_at);
          // Refused.
          if (change !== 'revoke' && promised !== undefined) continue;
          const ends =
            change === 'revoke' ? endsAfterRevoke(before, now) : endsAfterRotation(before, now, change);
          const end = new Map(ends.map(({ secret_id, expires_at }) => [secret_id, expires_at]));
          secrets = secrets.map(({ secret_id, expires_at }) => ({
            secret_id,
            expires_at: end.get(secret_id) ?? expires_at,
          }));
          if (change === 'revoke') {
            expect(live()).toEqual([]);
            continue;
          }
          secrets.push({ secret_id: secrets.length, expires_at: null });
          expect(live().length).toBeLessThanOrEqual(2);
          expect(live().at(-1)).toEqual(secrets.at(-1));
          for (const { secret_id, expires_at } of live().slice(0, -1)) {
            expect(+(expires_at ?? Infinity)).toBe(nowMs + change * 1_000);
            expect(before.map((secret) => secret.secret_id)).toContain(secret_id);
          }
        }
      }),
    );
  });
});

test('revoking and deleting raise the epoch by one, a new secret leaves it', () => {
  const before = { revocation_epoch: 4 };
  expect(stateAfterRevoke(before)).toEqual({ status: 'revoked', revocation_epoch: 5 });
  expect(stateAfterDelete(before)).toEqual({ status: 'deleted', revocation_epoch: 5 });
  expect(stateAfterRotation(before)).toEqual({ status: 'active', revocation_epoch: 4 });
});

describe('the label of a lifespan', () => {
  test('is that of the source specification for its choices', () => {
    const choices = [3_600, 43_200, 86_400, 604_800, 2_592_000, 31_536_000];
    expect(choices.map(lifespanLabel)).toEqual([
      '1 hour',
      '12 hours',
      '24 hours',
      '7 days',
      '30 days',
      '1 year',
    ]);
  });

  test('means the lifespan to the second', () => {
    const unitsSec: Record<string, number> = {
      second: 1,
      minute: 60,
      hour: 3_600,
      day: 86_400,
      year: 31_536_000,
    };
    const lifespan = fc.oneof(
      fc.integer(TOKEN_LIFESPAN_SEC),
      fc
        .tuple(fc.integer({ min: 1, max: 100 }), fc.constantFrom(...Object.values(unitsSec)))
        .map(([count, unitSec]) => Math.max(TOKEN_LIFESPAN_SEC.min, count * unitSec)),
    );
    fc.assert(
      fc.property(lifespan, (seconds) => {
        const [count = '', unit = ''] = lifespanLabel(seconds).split(' ');
        expect(unit.endsWith('s')).toBe(count !== '1');
        expect(Number(count) * (unitsSec[unit.replace(/s$/, '')] ?? NaN)).toBe(seconds);
      }),
    );
  });
});
