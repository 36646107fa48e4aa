import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lifetimeFrom, tokenStatus } from './rules.ts';

const instant = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2200-01-01') });

test('a token is Active only while nothing speaks against it', () => {
  fc.assert(
    fc.property(
      fc.record({
        revocation_epoch: fc.nat(3),
        expires_at: instant,
        revoked_at: fc.option(instant),
      }),
      fc.record({ status: fc.constantFrom('active', 'revoked', 'deleted'), revocation_epoch: fc.nat(3) }),
      instant,
      (token, application, now) => {
        const status = tokenStatus(token, application, now);
        const revoked =
          token.revoked_at !== null ||
          application.status !== 'active' ||
          application.revocation_epoch > token.revocation_epoch;
        expect(status === 'Revoked').toBe(revoked);
        expect(status === 'Active').toBe(!revoked && now.getTime() < token.expires_at.getTime());
      },
    ),
  );
});

test('a life is of whole seconds, and as long as asked for', () => {
  fc.assert(
    fc.property(instant, fc.integer({ min: 60, max: 3_153_600_000 }), (now, lifespanSec) => {
      const { issued_at, expires_at } = lifetimeFrom(now, lifespanSec);
      expect(expires_at.getTime() - issued_at.getTime()).toBe(lifespanSec * 1_000);
      expect(issued_at.getTime() % 1_000).toBe(0);
      expect(now.getTime() - issued_at.getTime()).toBeLessThan(1_000);
    }),
  );
});
