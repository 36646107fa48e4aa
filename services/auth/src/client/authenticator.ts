import { matchesSecret } from '@tollgate/client-secret';
import type { Pepper } from '@tollgate/client-secret';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { Caller } from '../abuse/caller.ts';
import type { FailedAttempts } from '../abuse/failed-attempts.ts';
import { OAuthError } from '../oauth/oauth-error.ts';
import type { ClientCredentials } from './credentials.ts';
import type { ClientDirectory } from './directory.ts';

/**
 * The record of the client that the credentials belong to.
 * @throws {OAuthError} invalid_client, the same for an unknown client, a wrong secret and a revoked application
 * @throws {Problem} service_unavailable; too_many_requests after too many failures, for the right secret too
 */
export type AuthenticateClient = (credentials: ClientCredentials, caller: Caller) => Promise<ClientRecord>;

/** Client ids are UUIDs as account writes them. Anything else is unknown without a look-up. */
const CLIENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Authenticates OAuth clients. Every attempt costs at least one HMAC, also for an id that can't exist. */
export function createClientAuthenticator(options: {
  clients: ClientDirectory;
  peppers: readonly Pepper[];
  failedAttempts: FailedAttempts;
}): AuthenticateClient {
  const { clients, peppers, failedAttempts } = options;
  return async ({ clientId, clientSecret }, { requestId, address }) => {
    failedAttempts.refuseKnown(clientId, address);
    const record = CLIENT_ID.test(clientId) ? await clients.find(clientId, requestId) : null;
    const matches = matchesSecret(clientSecret, liveSecrets(record, Date.now()), peppers);
    const authentic = matches && record?.status === 'active' ? record : null;
    await failedAttempts.settle(clientId, address, authentic === null);
    if (authentic === null) throw new OAuthError('invalid_client');
    return authentic;
  };
}

function liveSecrets(record: ClientRecord | null, nowMs: number) {
  return (record?.secrets ?? []).filter(
    ({ expires_at }) => expires_at === null || Date.parse(expires_at) > nowMs,
  );
}
