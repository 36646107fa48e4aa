import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { tooManyRequests } from '../abuse/too-many-requests.ts';
import type { AuthenticClient } from '../client/authenticator.ts';
import { tokenKey } from '../redis/keys.ts';
import { createIssueScript } from './issue-script.ts';
import { batchTokens } from './batch-tokens.ts';

/** Limited per client over all replicas; a client may use a minute's allowance at once. */
export type TokenIssuing = {
  /**
   * Counts a request that gets no token.
   * @throws {Problem} too_many_requests; service_unavailable
   */
  count: (clientId: string) => Promise<void>;
  /**
   * Counts a request and stores its token in one round trip. `changed`, and nothing is done, if the client was only
   * remembered (`json`) and Redis has another record by now.
   * @throws {Problem} too_many_requests; service_unavailable
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
