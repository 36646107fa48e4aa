import type { TokenIssuing } from '../../../token/token-issuing.ts';
import { createClientCredentialsGrant } from './client-credentials.ts';
import type { Grant } from './grant.ts';

/** All grants of the token endpoint; `grant_type` chooses. */
export function createGrants(options: { issuing: TokenIssuing; tokenPrefix: string }): readonly Grant[] {
  return [createClientCredentialsGrant(options)];
}
