import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';

/** AES-256-GCM. The first key of a list seals, all of them open (rotation). */
export type SealingKey = { id: string; key: Buffer };

/** `id:base64` pairs of 32 bytes. To rotate, prepend a pair, run `reseal`, and remove the old one when none is left. */
export const sealingKeysSetting = z
  .string()
  .transform((value) => value.split(/\s+/).filter((pair) => pair !== ''))
  .refine(
    (pairs) =>
      pairs.length > 0 && pairs.every((pair) => /^[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/_-]{43}=?$/.test(pair)),
    'must be id:base64 pairs separated by white space, each key 32 bytes',
  )
  .transform((pairs) =>
    pairs.map((pair): SealingKey => {
      const colon = pair.indexOf(':');
      return { id: pair.slice(0, colon), key: Buffer.from(pair.slice(colon + 1), 'base64') };
    }),
  )
  .refine(
    (keys) => new Set(keys.map(({ id }) => id)).size === keys.length,
    'must not give two keys the same id',
  )
  .meta({
    description:
      'keys that encrypt manual tokens and secrets of webhooks, TOTP and teams’ identity providers at rest',
    values: '`id:base64` pairs, 32 bytes each',
    isSecret: true,
  });

export type Sealed = { sealing_key_id: string; sealed_nonce: Buffer; sealed: Buffer };

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `owner` is authenticated: a secret moved to another row cannot be opened. */
export function seal(secret: string, owner: string, keys: readonly SealingKey[]): Sealed {
  const [first] = keys;
  if (first === undefined) throw new Error('no sealing key is configured');
  const sealed_nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, first.key, sealed_nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { sealing_key_id: first.id, sealed_nonce, sealed };
}

/** @throws {Problem} internal_error if the key is not configured or the row was changed */
export function unseal(stored: Sealed, owner: string, keys: readonly SealingKey[]): string {
  try {
    return open(stored, owner, keys);
  } catch (cause) {
    throw new Problem('internal_error', { cause });
  }
}

function open({ sealing_key_id, sealed_nonce, sealed }: Sealed, owner: string, keys: readonly SealingKey[]) {
  const found = keys.find(({ id }) => id === sealing_key_id);
  if (found === undefined) throw new Error(`the sealing key ${sealing_key_id} is not configured`);
  const decipher = createDecipheriv(CIPHER, found.key, sealed_nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return decipher.update(sealed.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}
