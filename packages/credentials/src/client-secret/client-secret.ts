import { createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { hmacSha256 } from './hmac.ts';

/** A KeyObject, because making one of a Buffer for each call costs five times as much as the HMAC. */
export type Pepper = { id: string; key: KeyObject };

/** The first pepper writes, all verify: to rotate, put a new one in front, and drop the old one when it is unused. */
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
  )
  .meta({
    description: 'keys that hash client secrets, the same in auth and account',
    values: '`id:base64` pairs',
    isSecret: true,
  });

/** A client secret as it is stored: HMAC-SHA-256 in base64url. */
export type SecretHmac = { pepper_id: string; hmac: string };

/** 256 random bits: a peppered HMAC protects them as well as a slow password hash (docs/design/tokens.md). */
export function newClientSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function hmacSecret(secret: string, peppers: readonly Pepper[]): SecretHmac {
  const [pepper] = peppers;
  if (pepper === undefined) throw new Error('no pepper is configured');
  return { pepper_id: pepper.id, hmac: hmacSha256(pepper.key, secret).toString('base64url') };
}

const decoded = new WeakMap<SecretHmac, Buffer>();

function bytesOf(stored: SecretHmac): Buffer {
  const known = decoded.get(stored);
  if (known !== undefined) return known;
  const bytes = Buffer.from(stored.hmac, 'base64url');
  decoded.set(stored, bytes);
  return bytes;
}

export function matchesSecret(
  secret: string,
  stored: readonly SecretHmac[],
  peppers: readonly Pepper[],
): boolean {
  return secretMatcher(secret, peppers)(stored);
}

/** In constant time, with an HMAC even if nothing is stored: timing must not tell unknown clients from known ones. */
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
      // timingSafeEqual throws on another length, which only a missing HMAC has.
      const same = timingSafeEqual(
        given,
        wanted.length === given.length ? wanted : Buffer.alloc(given.length),
      );
      matches += same && wanted.length === given.length ? 1 : 0;
    }
    return matches > 0;
  };
}
