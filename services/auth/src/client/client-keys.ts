import { applicationPart } from '@tollgate/credentials/access-token';

/** Redis key of a client's cached record. */
export function clientKey(clientId: string): string {
  return `auth:{${applicationPart(clientId)}}:client`;
}

/**
 * Redis key of what is known of an application's revocation epoch and of its manual tokens: a hash, see
 * client-store.ts.
 */
export function epochKey(part: string): string {
  return `auth:{${part}}:epoch`;
}

/** Where an issued token of an application is kept, by the token's hash. */
export function tokenKey(hash: string, part: string): string {
  return `auth:{${part}}:token:${hash}`;
}

/** The field of an application's hash for a manual token. */
export function manualTokenField(tokenHash: string): string {
  return `token:${tokenHash}`;
}
