import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const argon2Async = promisify(argon2);

type Cost = { memoryKib: number; passes: number; parallelism: number };

/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. */
const COST: Cost = { memoryKib: 19_456, passes: 2, parallelism: 1 };
const PREFIX = `$argon2id$v=19$m=${String(COST.memoryKib)},t=${String(COST.passes)},p=${String(COST.parallelism)}$`;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** A higher cost in a stored hash could exhaust the process. */
const MAX_COST: Cost = { memoryKib: 262_144, passes: 16, parallelism: 16 };

/** `$argon2id$v=19$m=…,t=…,p=…$salt$hash`, base64 without padding. */
const PHC =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,8}),t=([1-9]\d{0,3}),p=([1-9]\d{0,2})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{43})$/;

/** argon2id as a PHC string with a random salt. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  return `${PREFIX}${base64(salt)}$${base64(hash)}`;
}

/** A hash at the current cost that no password matches. */
export function unmatchableHash(): string {
  return `${PREFIX}${base64(randomBytes(SALT_BYTES))}$${base64(randomBytes(HASH_BYTES))}`;
}

export function isOutdated(stored: string): boolean {
  return !stored.startsWith(PREFIX);
}

/** Verifies at the cost stored in the hash. A string that is no argon2id hash matches nothing. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const parsed = parseHash(stored);
  if (parsed === undefined) return false;
  const given = await derive(password, Buffer.from(parsed.salt, 'base64'), parsed.cost);
  return timingSafeEqual(given, Buffer.from(parsed.hash, 'base64'));
}

export function isHash(stored: string): boolean {
  return parseHash(stored) !== undefined;
}

function parseHash(stored: string): { cost: Cost; salt: string; hash: string } | undefined {
  const [, memoryKib, passes, parallelism, salt, hash] = PHC.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  const cost = { memoryKib: Number(memoryKib), passes: Number(passes), parallelism: Number(parallelism) };
  return isAcceptable(cost) ? { cost, salt, hash } : undefined;
}

function isAcceptable({ memoryKib, passes, parallelism }: Cost): boolean {
  return (
    // RFC 9106, section 3.1: at least 8 KiB a lane.
    memoryKib >= 8 * parallelism &&
    memoryKib <= MAX_COST.memoryKib &&
    passes <= MAX_COST.passes &&
    parallelism <= MAX_COST.parallelism
  );
}

function derive(password: string, salt: Buffer, { memoryKib, passes, parallelism }: Cost): Promise<Buffer> {
  return argon2Async('argon2id', {
    // Equivalent Unicode forms are one password (RFC 8265, section 4.2).
    message: password.normalize('NFC'),
    nonce: salt,
    memory: memoryKib,
    passes,
    parallelism,
    tagLength: HASH_BYTES,
  });
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/={1,2}$/, '');
}
