import { matchesSecret } from '@tollgate/client-secret';
import type { Pepper } from '@tollgate/client-secret';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { OAuthError } from '../oauth/oauth-error.ts';
import type { ClientCredentials } from './credentials.ts';
import type { ClientDirectory } from './directory.ts';

/**
 * The record of the client that the credentials belong to.
 * @throws {OAuthError} invalid_client, the same for an unknown client, a wrong secret and a revoked application
 * @throws {Problem} service_unavailable
 */
export type AuthenticateClient = (credentials: ClientCredentials, requestId: string) => Promise<ClientRecord>;

/** Client ids are UUIDs as account writes them. Anything else is unknown without a look-up. */
const CLIENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Authenticates OAuth clients. Every attempt costs at least one HMAC, also for an id that can't exist. */
export function createClientAuthenticator(options: {
  clients: ClientDirectory;
  peppers: readonly Pepper[];
}): AuthenticateClient {
  const { clients, peppers } = options;
  return async ({ clientId, clientSecret }, requestId) => {
    const record = CLIENT_ID.test(clientId) ? await clients.find(clientId, requestId) : null;
    const matches = matchesSecret(clientSecret, liveSecrets(record, Date.now()), peppers);
    if (!matches || record?.status !== 'active') throw new OAuthError('invalid_client');
    return record;
  };
}

function liveSecrets(record: ClientRecord | null, nowMs: number) {
  return (record?.secrets ?? []).filter(
    ({ expires_at }) => expires_at === null || Date.parse(expires_at) > nowMs,
  );
}
