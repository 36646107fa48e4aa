import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { GrantAnswer, Granted } from '@tollgate/contracts/grants';
import { DATA_SCOPE } from '@tollgate/contracts/resource-servers';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { Caller } from '../../../abuse/caller.ts';
import type { FailedAttempts } from '../../../abuse/failed-attempts.ts';
import type { RunQueued } from '../../../abuse/look-up-queue.ts';
import type { AuthenticClient } from '../../../client/authenticator.ts';
import { OAuthError } from '../../../oauth/oauth-error.ts';
import type { TokenIssuing } from '../../../token/token-issuing.ts';
import type { TokenResponse } from './grant.ts';

/** What codes and refresh tokens share: account decides about both, and their access tokens are a connection's. */
export type DelegatedGrantNeeds = {
  account: Pick<PrivateApi, 'ask'>;
  issuing: Pick<TokenIssuing, 'count' | 'issue'>;
  failedAttempts: Pick<FailedAttempts, 'count' | 'isLimited'>;
  queued: RunQueued;
  tokenPrefix: string;
};

/** @throws {OAuthError} unauthorized_client if it doesn't act for other people */
export function actingClient({ client }: AuthenticClient): ClientRecord {
  if (client.authorization === undefined) throw new OAuthError('unauthorized_client');
  return client;
}

/**
 * Guesses are slowed as those of client secrets are: what a sender of too many presents waits in a queue, so that
 * account's time is left to others, and what is right is accepted still. `ask` is null for nothing that account could
 * know.
 * @throws {OAuthError} invalid_grant, invalid_target, invalid_scope
 * @throws {Problem} too_many_requests; service_unavailable
 */
export async function grantedOrRefused(
  { failedAttempts, queued }: Pick<DelegatedGrantNeeds, 'failedAttempts' | 'queued'>,
  { client_id }: Pick<ClientRecord, 'client_id'>,
  { addressGroup }: Caller,
  ask: (() => Promise<GrantAnswer>) | null,
): Promise<Granted> {
  const isLimited = ask !== null && failedAttempts.isLimited(client_id, addressGroup);
  const answer = isLimited ? await queued(addressGroup, ask) : await ask?.();
  if (answer?.outcome === 'granted') return answer;
  if (answer?.outcome === 'invalid_target' || answer?.outcome === 'invalid_scope') {
    throw new OAuthError(answer.outcome);
  }
  await failedAttempts.count(client_id, addressGroup);
  throw new OAuthError('invalid_grant');
}

/** @throws {Problem} too_many_requests; service_unavailable */
export async function issueDelegated(
  { issuing }: { issuing: Pick<TokenIssuing, 'issue'> },
  {
    granted,
    actingClientId,
    accessToken,
    refreshToken,
  }: {
    granted: Granted;
    actingClientId: string;
    accessToken: string;
    refreshToken: string;
  },
): Promise<TokenResponse> {
  const { audience, scope = DATA_SCOPE, ...client } = granted;
  const delegation = { via: actingClientId, scope, ...(audience !== null && { aud: audience }) };
  await issuing.issue(accessToken, { client, delegation });
  return {
    access_token: accessToken,
    expires_in: granted.token_lifespan_sec,
    scope,
    token_type: 'bearer',
    refresh_token: refreshToken,
  };
}
