import { z } from 'zod';
import { accessTokenHash } from '@tollgate/access-token';
import type { Redis } from '@tollgate/redis';
import { redisAnswer } from '../redis-answer.ts';

/** What Redis holds of a token, as JSON. The token itself is nowhere stored. */
const tokenRecordSchema = z.object({
  client_id: z.string(),
  account_id: z.int(),
  application_id: z.int(),
  scope: z.string(),
  /** Seconds since the epoch, like `exp`. */
  iat: z.int(),
  exp: z.int(),
  /** The application's revocation epoch when the token was issued. */
  epoch: z.int(),
});

export type TokenRecord = z.infer<typeof tokenRecordSchema>;

/**
 * Access tokens in Redis, at `auth:{<application part>}:token:<SHA-256 of the token, base64url>` until `exp`.
 * Each call is one round trip; both throw service_unavailable where Redis can't be asked.
 */
export type TokenStore = {
  save: (token: string, applicationPart: string, record: TokenRecord) => Promise<void>;
  /** The record of a token that hasn't expired, or null. */
  find: (token: string, applicationPart: string) => Promise<TokenRecord | null>;
};

export function createTokenStore(redis: Pick<Redis, 'get' | 'set'>): TokenStore {
  return {
    save: async (token, applicationPart, record) => {
      await redisAnswer(
        redis.set(tokenKey(token, applicationPart), JSON.stringify(record), 'EXAT', record.exp),
      );
    },
    find: async (token, applicationPart) => {
      const json = await redisAnswer(redis.get(tokenKey(token, applicationPart)));
      if (json === null) return null;
      const record = tokenRecordSchema.parse(JSON.parse(json));
      // Redis removes the key by its own clock, and a replica may be late with it.
      return record.exp * 1000 > Date.now() ? record : null;
    },
  };
}

function tokenKey(token: string, applicationPart: string): string {
  return `auth:{${applicationPart}}:token:${accessTokenHash(token)}`;
}
