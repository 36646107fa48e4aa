import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Access tokens: `<prefix>_<application part>_<secret part>` (service.md, "Token").
 *
 * - The application part is the client id, a UUID's 128 bits, as 22 base62 characters. It names the Redis
 *   Cluster slot of all the application's keys without a look-up.
 * - The secret part is 256 random bits as 43 base62 characters, then the CRC-32 of all that precedes it as 6.
 *   The checksum lets a gateway refuse a mistyped or made-up token before any I/O; it is no protection.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const APPLICATION_LENGTH = 22;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** What a prefix may be; also checked where it is configured. */
export const TOKEN_PREFIX_PATTERN = /^[a-z][a-z0-9]{0,15}$/;

const SHAPE = new RegExp(
  `^([a-z][a-z0-9]{0,15})_([0-9A-Za-z]{${String(APPLICATION_LENGTH)}})_` +
    `([0-9A-Za-z]{${String(SECRET_LENGTH)}})([0-9A-Za-z]{${String(CHECKSUM_LENGTH)}})$`,
);

/** A new token of a client. */
export function newAccessToken(prefix: string, clientId: string): string {
  const secret = toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH);
  const body = `${prefix}_${applicationPart(clientId)}_${secret}`;
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

/** The application part of a client's tokens: the UUID's 128 bits in base62. */
export function applicationPart(clientId: string): string {
  return toBase62(BigInt(`0x${clientId.replaceAll('-', '')}`), APPLICATION_LENGTH);
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function toBase62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n)
    digits = (ALPHABET[Number(rest % 62n)] ?? '') + digits;
  return digits;
}
