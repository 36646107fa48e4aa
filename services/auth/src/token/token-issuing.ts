import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { tooManyRequests } from '../abuse/too-many-requests.ts';
import type { AuthenticClient } from '../client/authenticator.ts';
import { tokenKey } from '../client/client-keys.ts';
import { createIssueScript } from './issue-script.ts';
import { batchTokens } from './batch-tokens.ts';

/**
 * What a token request does in Redis, limited per client over all replicas at
 * `auth:{<application part>}:requests`. A client may ask for a whole minute's worth at once; then it gets them
 * as they accrue.
 */
export type TokenIssuing = {
  /**
   * Counts one request of an authenticated client that gets no token.
   * @throws {Problem} too_many_requests; service_unavailable where Redis can't be asked
   */
  count: (clientId: string) => Promise<void>;
  /**
   * Counts one request of an authenticated client and stores its token, in one round trip.
   *
   * Of a client that was only remembered, `json` is its record. Where Redis holds another one by now, or none
   * that may be used, nothing is done, and the answer is `changed`.
   * @throws {Problem} too_many_requests; service_unavailable where Redis can't be asked
   */
  issue: (token: string, authentic: AuthenticClient) => Promise<'issued' | 'changed'>;
};

export function createTokenIssuing(options: {
  redis: ScriptableRedis;
  perMinute: number;
  onLimited: () => void;
}): TokenIssuing {
  const { redis, perMinute, onLimited } = options;
  const script = createIssueScript(redis, perMinute);
  const issueToken = batchTokens(script);

  function refusal(waitUs: number): Error {
    onLimited();
    return tooManyRequests(waitUs / 1000);
  }

  return {
    count: async (clientId) => {
      const { fitted, waitUs } = await script.count(clientId);
      if (fitted === 0) throw refusal(waitUs);
    },
    issue: async (token, authentic) => {
      const key = tokenKey(accessTokenHash(token), applicationPart(authentic.client.client_id));
      const outcome = await issueToken(authentic, key);
      if (typeof outcome === 'object') throw refusal(outcome.waitUs);
      return outcome;
    },
  };
}
