import { Secret, TOTP } from 'otpauth';

/** What every authenticator app supports: SHA-1, six digits, 30 seconds (RFC 6238). */
const PARAMETERS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;

const SECRET_BYTES = 20;

/** Steps before and after the current one whose codes are accepted: clocks differ, and typing takes time. */
const WINDOW_STEPS = 1;

/** 160 random bits in base32, as RFC 4226, section 4 recommends. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** For the QR code that authenticator apps read. */
export function otpauthUrl(secret: string, shown: { issuer: string; label: string }): string {
  return new TOTP({ ...PARAMETERS, ...shown, secret: Secret.fromBase32(secret) }).toString();
}

/** The time step that a code belongs to; undefined if it is wrong at this time. */
export function stepOfCode(secret: string, code: string, nowMs: number): number | undefined {
  const totp = new TOTP({ ...PARAMETERS, secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token: code, timestamp: nowMs, window: WINDOW_STEPS });
  return delta === null ? undefined : Math.floor(nowMs / 1_000 / PARAMETERS.period) + delta;
}
