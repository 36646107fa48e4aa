import { secretMatcher } from '@tollgate/credentials/client-secret';
import type { Pepper } from '@tollgate/credentials/client-secret';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { Caller } from '../abuse/caller.ts';
import type { FailedAttempts } from '../abuse/failed-attempts.ts';
import { OAuthError } from '../oauth/oauth-error.ts';
import type { ClientCredentials } from './credentials.ts';
import type { ClientDirectory } from './directory.ts';

/** Begins an attempt to authenticate. `callerOf` is called only by `lookUp`: a token seldom needs it. */
export type AuthenticateClient = (credentials: ClientCredentials, callerOf: () => Caller) => Attempt;

type Attempt = {
  /**
   * A remembered record may be outdated: use it only in a script that still finds `json` in Redis. No round
   * trip.
   */
  remembered: () => (AuthenticClient & { json: string }) | null;
  /**
   * The client that the credentials belong to.
   * @throws {OAuthError} invalid_client, the same for an unknown client, a wrong secret and a revoked application
   * @throws {Problem} service_unavailable; too_many_requests for wrong credentials after too many of them
   */
  lookUp: () => Promise<AuthenticClient>;
};

/** What a token takes from its client. */
export type TokenClient = Pick<
  ClientRecord,
  'client_id' | 'account_id' | 'application_id' | 'revocation_epoch' | 'token_lifespan_sec'
>;

export type AuthenticClient = {
  client: ClientRecord;
  /** Only of a remembered client: the record that Redis must hold still (ClientStore). */
  json?: string;
};

/** Client ids are UUIDs as account writes them. Anything else is unknown without a look-up. */
const CLIENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Credentials are checked before any limit, so that others' failures never refuse right ones (docs/design/tokens.md).
 */
export function createClientAuthenticator(options: {
  clients: Pick<ClientDirectory, 'find' | 'findQueued' | 'remembered'>;
  peppers: readonly Pepper[];
  /** By the clock that all services share, because replaced secrets end by it. */
  nowMs: () => number;
  failedAttempts: FailedAttempts;
}): AuthenticateClient {
  const { clients, peppers, nowMs, failedAttempts } = options;
  return ({ clientId, clientSecret }, callerOf) => {
    const matches = clientSecret === null ? null : secretMatcher(clientSecret, peppers);

    /** A public client has no secret, so one that is sent is wrong; any other has to prove its own. */
    function isAuthentic(record: ClientRecord | null): record is ClientRecord {
      const isProved =
        matches === null ? record?.authorization === 'public' : matches(liveSecrets(record, nowMs()));
      return isProved && record?.status === 'active';
    }

    async function find(caller: Caller): Promise<ClientRecord | null> {
      if (!CLIENT_ID.test(clientId)) return null;
      return failedAttempts.isLimited(clientId, caller.addressGroup)
        ? clients.findQueued(clientId, caller)
        : clients.find(clientId, caller.requestId);
    }

    return {
      remembered: () => {
        const remembered = clients.remembered(clientId);
        if (remembered === null || !isAuthentic(remembered.record)) return null;
        return { client: remembered.record, json: remembered.json };
      },
      lookUp: async () => {
        const caller = callerOf();
        const record = await find(caller);
        if (isAuthentic(record)) return { client: record };
        await failedAttempts.count(clientId, caller.addressGroup);
        throw new OAuthError('invalid_client');
      },
    };
  };
}

function liveSecrets(record: ClientRecord | null, nowMs: number) {
  return (record?.secrets ?? []).filter(
    ({ expires_at }) => expires_at === null || Date.parse(expires_at) > nowMs,
  );
}
