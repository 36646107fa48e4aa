import { createAuthorizationCodeGrant } from './authorization-code.ts';
import { createClientCredentialsGrant } from './client-credentials.ts';
import type { DelegatedGrantNeeds } from './delegated.ts';
import type { Grant } from './grant.ts';
import { createRefreshTokenGrant } from './refresh-token.ts';

/** All grants of the token endpoint; `grant_type` chooses. */
export function createGrants(needs: DelegatedGrantNeeds): readonly Grant[] {
  return [
    createClientCredentialsGrant(needs),
    createAuthorizationCodeGrant(needs),
    createRefreshTokenGrant(needs),
  ];
}
