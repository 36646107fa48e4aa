import { seal, unseal } from '../../platform/sealing/sealing.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';

export type SealedToken = { sealing_key_id: string; sealed_nonce: Buffer; sealed_token: Buffer };

export type SealedFor = { application_id: number; token_hash: string };

export function sealToken(token: string, owner: SealedFor, keys: readonly SealingKey[]): SealedToken {
  const { sealed, ...rest } = seal(token, tokenOwner(owner), keys);
  return { ...rest, sealed_token: sealed };
}

/** @throws {Problem} internal_error if it can't be decrypted */
export function unsealToken(
  { sealed_token, ...rest }: SealedToken,
  owner: SealedFor,
  keys: readonly SealingKey[],
): string {
  return unseal({ ...rest, sealed: sealed_token }, tokenOwner(owner), keys);
}

export function tokenOwner({ application_id, token_hash }: SealedFor): string {
  return `tollgate:access-token:${String(application_id)}:${token_hash}`;
}
