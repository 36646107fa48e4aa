import { hash, randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DIGIT_CODES, fromBase62, numberToBase62, toBase62 } from './base62.ts';

// `<prefix>_<application part>_<secret part>`: the client id in base62, also the hash tag of its keys in Redis;
// then 256 random bits and a CRC-32, which refuses mistyped tokens before any I/O and protects nothing.
const APPLICATION_LENGTH = 22;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

const FAIR_BYTE_VALUES = 256 - (256 % 62);

export const TOKEN_PREFIX_PATTERN = /^[a-z][a-z0-9]{0,15}$/;

const SHAPE = new RegExp(
  // A configured prefix, or one of those that codes and refresh tokens derive from it.
  `^([a-z][a-z0-9]{0,16})_([0-9A-Za-z]{${String(APPLICATION_LENGTH)}})_` +
    `([0-9A-Za-z]{${String(SECRET_LENGTH)}})([0-9A-Za-z]{${String(CHECKSUM_LENGTH)}})$`,
);

// Random bytes for many tokens: a system call for each would double a token's cost.
const pool = Buffer.alloc(4_096);
let used = pool.length;

export function newAccessToken(prefix: string, clientId: string): string {
  return withChecksum(`${prefix}_${applicationPart(clientId)}_${newSecret()}`);
}

/** With a secret of 32 bytes in place of random digits. */
export function accessTokenOf(prefix: string, clientId: string, secret: Buffer): string {
  return withChecksum(`${prefix}_${applicationPart(clientId)}_${toBase62(secret, SECRET_LENGTH)}`);
}

function withChecksum(body: string): string {
  return body + checksum(body);
}

/** A token's application part; null if the format, the prefix or the checksum is wrong. */
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

const knownParts = new Map<string, string>();
const KNOWN_PARTS_MAX = 10_000;

export function applicationPart(clientId: string): string {
  const known = knownParts.get(clientId);
  if (known !== undefined) return known;
  const part = toBase62(Buffer.from(clientId.replaceAll('-', ''), 'hex'), APPLICATION_LENGTH);
  // Cheaper than tracking use, and one request needs its client's part several times.
  if (knownParts.size === KNOWN_PARTS_MAX) knownParts.clear();
  knownParts.set(clientId, part);
  return part;
}

/** The inverse; null if the part isn't a UUID's. */
export function clientIdOf(part: string): string | null {
  const hex = fromBase62(part).toString(16).padStart(32, '0');
  if (hex.length > 32) return null;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function checksum(body: string): string {
  return numberToBase62(crc32(body), CHECKSUM_LENGTH);
}

const secretDigits = Buffer.alloc(SECRET_LENGTH);

/** Draws digit by digit: a third of the cost of converting 256 bits to base62. */
function newSecret(): string {
  let drawn = 0;
  while (drawn < SECRET_LENGTH) {
    const byte = nextRandomByte();
    // 62 doesn't divide 256: the last values would make some digits more likely.
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
  // Leave nothing in memory that a token was made of.
  pool[used] = 0;
  used += 1;
  return byte;
}
