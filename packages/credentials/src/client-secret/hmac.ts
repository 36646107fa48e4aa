import { createHmac, hash } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/** Enough for our secrets; createHmac takes longer texts. */
const SCRATCH_TEXT_BYTES = 1_024;

type Keyed = {
  /** The inner pad and room for a text. */
  inner: Buffer;
  /** The outer pad and room for a digest. */
  outer: Buffer;
};

const keyed = new WeakMap<KeyObject, Keyed>();

/** HMAC-SHA-256 (RFC 2104) by two one-shot hashes: createHmac's native object per call took a tenth of a token's time. */
export function hmacSha256(key: KeyObject, text: string): Buffer {
  // The UTF-8 of a UTF-16 unit has at most three bytes.
  if (text.length * 3 > SCRATCH_TEXT_BYTES) return createHmac('sha256', key).update(text).digest();
  const { inner, outer } = keyed.get(key) ?? keyedOf(key);
  const end = BLOCK_BYTES + inner.write(text, BLOCK_BYTES);
  // Node.js converts digests fastest as binary text.
  outer.write(hash('sha256', inner.subarray(0, end), 'binary'), BLOCK_BYTES, 'binary');
  inner.fill(0, BLOCK_BYTES, end);
  return Buffer.from(hash('sha256', outer, 'binary'), 'binary');
}

function keyedOf(key: KeyObject): Keyed {
  const given = key.export();
  const bytes = given.length > BLOCK_BYTES ? hash('sha256', given, 'buffer') : given;
  const made = {
    inner: padded(bytes, 0x36, SCRATCH_TEXT_BYTES),
    outer: padded(bytes, 0x5c, DIGEST_BYTES),
  };
  keyed.set(key, made);
  return made;
}

function padded(key: Buffer, pad: number, room: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES + room);
  for (let at = 0; at < BLOCK_BYTES; at += 1) block[at] = (key[at] ?? 0) ^ pad;
  return block;
}
