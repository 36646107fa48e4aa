import { applicationPart } from '@tollgate/credentials/access-token';

export function clientKey(clientId: string): string {
  return `auth:{${applicationPart(clientId)}}:client`;
}

/** A hash of the application's revocation epoch and manual tokens (client-store.ts). */
export function epochKey(part: string): string {
  return `auth:{${part}}:epoch`;
}

export function tokenKey(hash: string, part: string): string {
  return `auth:{${part}}:token:${hash}`;
}

/** A list of the hashes of the application's issued tokens, oldest first (docs/design/tokens.md). */
export function issuedTokensKey(part: string): string {
  return `auth:{${part}}:tokens`;
}

export function manualTokenField(tokenHash: string): string {
  return `token:${tokenHash}`;
}
