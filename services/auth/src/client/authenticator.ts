import { secretMatcher } from '@tollgate/client-secret';
import type { Pepper } from '@tollgate/client-secret';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { Caller } from '../abuse/caller.ts';
import type { FailedAttempts } from '../abuse/failed-attempts.ts';
import { OAuthError } from '../oauth/oauth-error.ts';
import type { ClientCredentials } from './credentials.ts';
import type { ClientDirectory } from './directory.ts';

/**
 * Begins an attempt to authenticate.
 * @throws {Problem} too_many_requests where this process knows that there were too many failures
 */
export type AuthenticateClient = (credentials: ClientCredentials, caller: Caller) => Attempt;

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
   * @throws {Problem} service_unavailable; too_many_requests after too many failures
   */
  confirm: () => Promise<AuthenticClient>;
};

export type AuthenticClient = {
  client: ClientRecord;
  /**
   * The last word on this attempt, still on its way, so that the next round trip need not wait for it. Nobody
   * may be told that the secret was right before it has resolved: after too many failures it rejects with
   * too_many_requests for the right secret too, and with service_unavailable where Redis can't be asked.
   */
  settled: Promise<void>;
  /** Of a client that was only remembered: its record as Redis has to hold it still (ClientStore). */
  json?: string;
};

/** Client ids are UUIDs as account writes them. Anything else is unknown without a look-up. */
const CLIENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Authenticates OAuth clients. Every attempt that fails costs one look-up and one HMAC, whether the client is
 * remembered or not (an id that can't exist costs the HMAC).
 */
export function createClientAuthenticator(options: {
  clients: Pick<ClientDirectory, 'find' | 'recall'>;
  peppers: readonly Pepper[];
  failedAttempts: FailedAttempts;
}): AuthenticateClient {
  const { clients, peppers, failedAttempts } = options;
  return ({ clientId, clientSecret }, { requestId, addressGroup }) => {
    failedAttempts.refuseKnown(clientId, addressGroup);
    const matches = secretMatcher(clientSecret, peppers);

    function isAuthentic(record: ClientRecord | null): record is ClientRecord {
      return matches(liveSecrets(record, Date.now())) && record?.status === 'active';
    }

    function settle(failed: boolean): Promise<void> {
      const settled = failedAttempts.settle(clientId, addressGroup, failed);
      // Whoever gets it awaits it; until then a rejection isn't unhandled.
      settled.catch(() => undefined);
      return settled;
    }

    return {
      recall: () => {
        const remembered = clients.recall(clientId);
        if (remembered === null || !isAuthentic(remembered.record)) return null;
        return { client: remembered.record, json: remembered.json, settled: settle(false) };
      },
      confirm: async () => {
        const record = CLIENT_ID.test(clientId) ? await clients.find(clientId, requestId) : null;
        if (isAuthentic(record)) return { client: record, settled: settle(false) };
        await settle(true);
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
