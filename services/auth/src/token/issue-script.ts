import { applicationPart } from '@tollgate/credentials/access-token';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { LUA_DATA_SET, LUA_NOT_TO_DISK } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { clientKey, epochKey } from '../client/client-keys.ts';
import { LUA_CACHED_RECORD, LUA_LISTED, defineScript } from '../redis/redis-script.ts';
import { SCOPE } from './token-record.ts';
import type { TokenRecord } from './token-record.ts';

const MINUTE_US = 60_000_000;

/**
 * Counts requests of one client and stores their tokens, in their order, as if each asked by itself: so many as
 * fit, and all others are refused.
 *
 * The generic cell rate algorithm: the first key holds the moment, in whole microseconds of Redis' clock, at which
 * the client's allowance is whole again. The second and third are the client's; where its record is given and
 * another one is there, or none that may be used, nothing is done. What is checked and what is stored are of one
 * moment: a token of a client that has changed is never stored. All further keys take a token each, whose life
 * begins now by Redis' clock: that is the one that ends it, and auth's may be wrong. ARGV[4] is the record as JSON
 * without its brace and those two moments.
 *
 * Answers how many fitted (-1: the client has changed), and the microseconds until one more does.
 */
export const LUA = `
local cost, most, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local rest, lifespan, client = ARGV[4], tonumber(ARGV[5]), ARGV[6]
if client ~= '' then
  ${LUA_DATA_SET}${LUA_LISTED}${LUA_CACHED_RECORD}
  if cached_record(2) ~= client then return { -1, 0 } end
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local iat = tonumber(time[1])
local record = string.format('{"iat":%d,"exp":%d,', iat, iat + lifespan) .. rest
local whole = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local fitted = 0
while fitted < wanted and whole + cost - now <= most do
  whole = math.floor(whole + cost + 0.5)
  fitted = fitted + 1
  local token = KEYS[3 + fitted]
  if token then redis.call('SET', token, record, 'EXAT', iat + lifespan) end
end
if fitted > 0 then
  ${LUA_NOT_TO_DISK}
  redis.call('SET', KEYS[1], whole, 'PX', math.ceil((whole - now) / 1000))
end
return { fitted, math.ceil(whole + cost - now - most) }
`;

/** Of so many requests, how many fitted, and how long it is until one more does. */
export type IssueAnswer = { fitted: number; waitUs: number };

export type IssueScript = {
  /**
   * Stores tokens of one client at their keys (store.ts), each counted. `json`, of a client that was only
   * remembered, is the record that Redis has to hold still.
   */
  issue: (
    client: ClientRecord,
    tokenKeys: readonly string[],
    json?: string,
  ) => Promise<IssueAnswer | 'changed'>;
  /** Counts a request that gets no token. */
  count: (clientId: string) => Promise<IssueAnswer>;
};

/** Defines the script: one round trip, on the client's slot. It throws service_unavailable as all of them do. */
export function createIssueScript(redis: ScriptableRedis, perMinute: number): IssueScript {
  const run = defineScript(redis, LUA);
  const limit = limitArgs(perMinute);

  async function answerOf(
    clientId: string,
    tokenKeys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<IssueAnswer> {
    const part = applicationPart(clientId);
    const keys = [`auth:{${part}}:requests`, clientKey(clientId), epochKey(part), ...tokenKeys];
    const [fitted, waitUs] = (await run(keys, [...limit, ...args])) as [number, number];
    return { fitted, waitUs };
  }

  return {
    issue: async (client, tokenKeys, json = '') => {
      const args = [tokenKeys.length, restOfRecord(client), client.token_lifespan_sec, json];
      const answer = await answerOf(client.client_id, tokenKeys, args);
      return answer.fitted < 0 ? 'changed' : answer;
    },
    count: (clientId) => answerOf(clientId, [], [1, '', 0, '']),
  };
}

/** The script's first arguments: what a request costs of a minute, and the minute. */
export function limitArgs(perMinute: number): [costUs: string, minuteUs: number] {
  return [(MINUTE_US / perMinute).toFixed(3), MINUTE_US];
}

/** What tokens of one client have in common. */
function restOfRecord(client: ClientRecord): string {
  const { client_id, account_id, application_id, revocation_epoch } = client;
  const record: Omit<TokenRecord, 'iat' | 'exp'> = {
    client_id,
    account_id,
    application_id,
    scope: SCOPE,
    epoch: revocation_epoch,
  };
  return JSON.stringify(record).slice(1);
}
