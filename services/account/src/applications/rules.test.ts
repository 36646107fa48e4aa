import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  endsAfterRevoke,
  endsAfterRotation,
  OVERLAP_SEC,
  standingAfterDelete,
  standingAfterRevoke,
  standingAfterRotation,
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
  test('whatever is rotated and revoked, at most two are live, and the newest always is after a rotation', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let nowMs = 0;
        let secrets: Secret[] = [{ secret_id: 0, expires_at: null }];
        const live = () => secrets.filter(({ expires_at }) => expires_at === null || +expires_at > nowMs);
        for (const { waitSec, change } of steps) {
          nowMs += waitSec * 1_000;
          const before = live();
          const now = new Date(nowMs);
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
            expect(+(expires_at ?? Infinity)).toBeLessThanOrEqual(nowMs + change * 1_000);
            expect(before.map((secret) => secret.secret_id)).toContain(secret_id);
          }
        }
      }),
    );
  });

  test('an overlap never prolongs what an earlier rotation has set an end to', () => {
    const soon = new Date(5_000);
    expect(endsAfterRotation([{ secret_id: 1, expires_at: soon }], new Date(0), 3_600)).toEqual([
      { secret_id: 1, expires_at: soon },
    ]);
  });
});

test('revoking and deleting raise the epoch by one, a new secret leaves it', () => {
  const before = { revocation_epoch: 4 };
  expect(standingAfterRevoke(before)).toEqual({ status: 'revoked', revocation_epoch: 5 });
  expect(standingAfterDelete(before)).toEqual({ status: 'deleted', revocation_epoch: 5 });
  expect(standingAfterRotation(before)).toEqual({ status: 'active', revocation_epoch: 4 });
});
