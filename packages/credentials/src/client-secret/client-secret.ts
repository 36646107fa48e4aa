import { createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { hmacSha256 } from './hmac.ts';

/**
 * A key of the HMAC over client secrets. The first of a list writes, all of them verify (rotation). It is a
 * KeyObject: to make one of a Buffer at each call costs five times what the HMAC does.
 */
export type Pepper = { id: string; key: KeyObject };

/**
 * Peppers as a setting: `id:base64` pairs separated by white space, each key at least 32 bytes.
 * To rotate, put the new pair in front; drop the old one when no secret carries its id any more.
 */
export const pepperSetting = z
  .string()
  .transform((value) => value.split(/\s+/).filter((pair) => pair !== ''))
  .refine(
    (pairs) =>
      pairs.length > 0 && pairs.every((pair) => /^[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/_-]{43,}=*$/.test(pair)),
    'must be id:base64 pairs separated by white space, each key at least 32 bytes',
  )
  .transform((pairs) =>
    pairs.map((pair): Pepper => {
      const colon = pair.indexOf(':');
      const key = createSecretKey(Buffer.from(pair.slice(colon + 1), 'base64'));
      return { id: pair.slice(0, colon), key };
    }),
  )
  .refine(
    (peppers) => new Set(peppers.map(({ id }) => id)).size === peppers.length,
    'must not give two keys the same id',
  );

/** A client secret as it is stored: its HMAC-SHA-256 in base64url, and which pepper made it. */
export type SecretHmac = { pepper_id: string; hmac: string };

/**
 * A new client secret: 256 random bits, base64url. It is random, so a peppered HMAC protects it as well as a
 * slow password hash would, at a thousandth of the cost (ADR 0006).
 */
export function newClientSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The stored form of a secret, under the first pepper. */
export function hmacSecret(secret: string, peppers: readonly Pepper[]): SecretHmac {
  const [pepper] = peppers;
  if (pepper === undefined) throw new Error('no pepper is configured');
  return { pepper_id: pepper.id, hmac: hmacSha256(pepper.key, secret).toString('base64url') };
}

const decoded = new WeakMap<SecretHmac, Buffer>();

/** A stored HMAC's bytes, which a record that is used again and again needs decoded once. */
function bytesOf(stored: SecretHmac): Buffer {
  const known = decoded.get(stored);
  if (known !== undefined) return known;
  const bytes = Buffer.from(stored.hmac, 'base64url');
  decoded.set(stored, bytes);
  return bytes;
}

/** Whether a secret is one of the stored ones: see secretMatcher. */
export function matchesSecret(
  secret: string,
  stored: readonly SecretHmac[],
  peppers: readonly Pepper[],
): boolean {
  return secretMatcher(secret, peppers)(stored);
}

/**
 * Tells of a secret whether it is one of the stored ones. All are compared, each in constant time; one stored
 * under a pepper that is no longer configured never matches. With nothing stored it costs one HMAC all the same,
 * so that an unknown client can't be told from a wrong secret by the clock. Nor can a client that is compared
 * twice: the secret's HMAC is made once for each pepper.
 */
export function secretMatcher(
  secret: string,
  peppers: readonly Pepper[],
): (stored: readonly SecretHmac[]) => boolean {
  const made = new Map<Pepper, Buffer>();

  function hmacUnder(pepper: Pepper): Buffer {
    const known = made.get(pepper) ?? hmacSha256(pepper.key, secret);
    made.set(pepper, known);
    return known;
  }

  return (stored) => {
    const candidates = stored.length > 0 ? stored : [{ pepper_id: peppers[0]?.id ?? '', hmac: '' }];
    let matches = 0;
    for (const candidate of candidates) {
      const pepper = peppers.find(({ id }) => id === candidate.pepper_id);
      if (pepper === undefined) continue;
      const wanted = bytesOf(candidate);
      const given = hmacUnder(pepper);
      // An HMAC of another length can't be compared in constant time, and only a missing one has it.
      const same = timingSafeEqual(
        given,
        wanted.length === given.length ? wanted : Buffer.alloc(given.length),
      );
      matches += same && wanted.length === given.length ? 1 : 0;
    }
    return matches > 0;
  };
}
