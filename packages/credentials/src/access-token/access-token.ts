import { hash, randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DIGIT_CODES, fromBase62, numberToBase62, toBase62 } from './base62.ts';

/**
 * Access tokens: `<prefix>_<application part>_<secret part>` (service.md, "Token").
 *
 * - The application part is the client id, a UUID's 128 bits, as 22 base62 characters. It names the Redis
 *   Cluster slot of all the application's keys without a look-up.
 * - The secret part is 43 random base62 characters, which is 256 bits, then the CRC-32 of all that precedes it as 6.
 *   The checksum lets a gateway refuse a mistyped or made-up token before any I/O; it is no protection.
 */
const APPLICATION_LENGTH = 22;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** As many values of a byte as 62 divides. */
const FAIR_BYTE_VALUES = 256 - (256 % 62);

/** What a prefix may be; also checked where it is configured. */
export const TOKEN_PREFIX_PATTERN = /^[a-z][a-z0-9]{0,15}$/;

const SHAPE = new RegExp(
  `^([a-z][a-z0-9]{0,15})_([0-9A-Za-z]{${String(APPLICATION_LENGTH)}})_` +
    `([0-9A-Za-z]{${String(SECRET_LENGTH)}})([0-9A-Za-z]{${String(CHECKSUM_LENGTH)}})$`,
);

// Drawn for many tokens at once, as randomUUID does it: a system call for each would cost as much as the rest.
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** A new token of a client. */
export function newAccessToken(prefix: string, clientId: string): string {
  const body = `${prefix}_${applicationPart(clientId)}_${newSecret()}`;
  return body + checksum(body);
}

/**
 * Reads a token's parts; null where the shape, the prefix or the checksum is wrong. No I/O.
 * `applicationPart` is the token's middle part.
 */
export function parseAccessToken(token: string, prefix: string): { applicationPart: string } | null {
  const match = SHAPE.exec(token);
  if (match?.[1] !== prefix || match[2] === undefined) return null;
  const body = token.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === token.slice(-CHECKSUM_LENGTH) ? { applicationPart: match[2] } : null;
}

/** SHA-256 in base64url: the only form in which a token is stored or used as a key. */
export function accessTokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** Parts that were worked out before: one request needs its client's several times. */
const knownParts = new Map<string, string>();
const KNOWN_PARTS_MAX = 10_000;

/** The application part of a client's tokens: the UUID's 128 bits in base62. */
export function applicationPart(clientId: string): string {
  const known = knownParts.get(clientId);
  if (known !== undefined) return known;
  const part = toBase62(Buffer.from(clientId.replaceAll('-', ''), 'hex'), APPLICATION_LENGTH);
  // Cheaper than to find out which was used least: they are soon there again.
  if (knownParts.size === KNOWN_PARTS_MAX) knownParts.clear();
  knownParts.set(clientId, part);
  return part;
}

/** The client whose tokens have this application part, the inverse; null where it is no UUID's. */
export function clientIdOf(part: string): string | null {
  const hex = fromBase62(part).toString(16).padStart(32, '0');
  if (hex.length > 32) return null;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function checksum(body: string): string {
  return numberToBase62(crc32(body), CHECKSUM_LENGTH);
}

const secretDigits = Buffer.alloc(SECRET_LENGTH);

/** Digits drawn one by one: a third of the cost of 256 bits in another base, and as hard to guess. */
function newSecret(): string {
  let drawn = 0;
  while (drawn < SECRET_LENGTH) {
    const byte = nextRandomByte();
    // The last of a byte's values would make the first digits more likely than the others.
    if (byte < FAIR_BYTE_VALUES) {
      secretDigits[drawn] = DIGIT_CODES[byte % 62] ?? 0;
      drawn += 1;
    }
  }
  const secret = secretDigits.toString('latin1');
  secretDigits.fill(0);
  return secret;
}

function nextRandomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool[used] ?? 0;
  // What a token was made of isn't kept beyond it.
  pool[used] = 0;
  used += 1;
  return byte;
}
