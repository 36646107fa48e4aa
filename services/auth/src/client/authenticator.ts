import { secretMatcher } from '@tollgate/credentials/client-secret';
import type { Pepper } from '@tollgate/credentials/client-secret';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { Caller } from '../abuse/caller.ts';
import type { FailedAttempts } from '../abuse/failed-attempts.ts';
import { OAuthError } from '../oauth/oauth-error.ts';
import type { ClientCredentials } from './credentials.ts';
import type { ClientDirectory } from './directory.ts';

/** Begins an attempt to authenticate. Who it comes from is asked only where that matters: a token seldom needs it. */
export type AuthenticateClient = (credentials: ClientCredentials, callerOf: () => Caller) => Attempt;

type Attempt = {
  /**
   * The client, where the credentials are right by what this process remembers of it. That may have changed: no
   * more may be done with it than what a script does after it has found `json` in Redis still. Costs no round
   * trip; null where nothing is remembered or the credentials are wrong by that, which doesn't mean that they are.
   */
  recall: () => (AuthenticClient & { json: string }) | null;
  /**
   * The client that the credentials belong to.
   * @throws {OAuthError} invalid_client, the same for an unknown client, a wrong secret and a revoked application
   * @throws {Problem} service_unavailable; too_many_requests for wrong credentials after too many of them
   */
  confirm: () => Promise<AuthenticClient>;
};

export type AuthenticClient = {
  client: ClientRecord;
  /** Of a client that was only remembered: its record as Redis has to hold it still (ClientStore). */
  json?: string;
};

/** Client ids are UUIDs as account writes them. Anything else is unknown without a look-up. */
const CLIENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Authenticates OAuth clients. The credentials are checked before any limit, so the failures of others never refuse
 * right ones (ADR 0014). Every attempt that fails costs one HMAC and a look in Redis (an id that can't exist costs
 * the HMAC); account is asked for few of those that come after too many failures.
 */
export function createClientAuthenticator(options: {
  clients: Pick<ClientDirectory, 'find' | 'findQueued' | 'recall'>;
  peppers: readonly Pepper[];
  /** By the clock that all services share: replaced secrets end by it. */
  nowMs: () => number;
  failedAttempts: FailedAttempts;
}): AuthenticateClient {
  const { clients, peppers, nowMs, failedAttempts } = options;
  return ({ clientId, clientSecret }, callerOf) => {
    const matches = secretMatcher(clientSecret, peppers);

    function isAuthentic(record: ClientRecord | null): record is ClientRecord {
      return matches(liveSecrets(record, nowMs())) && record?.status === 'active';
    }

    async function find({ requestId, addressGroup }: Caller): Promise<ClientRecord | null> {
      if (!CLIENT_ID.test(clientId)) return null;
      return failedAttempts.isLimited(clientId, addressGroup)
        ? clients.findQueued(clientId, requestId)
        : clients.find(clientId, requestId);
    }

    return {
      recall: () => {
        const remembered = clients.recall(clientId);
        if (remembered === null || !isAuthentic(remembered.record)) return null;
        return { client: remembered.record, json: remembered.json };
      },
      confirm: async () => {
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
