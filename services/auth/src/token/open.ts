import { Counter } from 'prom-client';
import type { ClientDirectory } from '../client/directory.ts';
import type { Platform } from '../platform/open.ts';
import { defineScript } from '../redis/redis-script.ts';
import { ISSUE_LUA } from './issue-script.ts';
import { startLastUsed } from './last-used.ts';
import { createFindLiveToken } from './live-token.ts';
import type { FindLiveToken } from './live-token.ts';
import { createEndConnection, createRevokeToken } from './revoke-token.ts';
import type { EndConnection, RevokeToken } from './revoke-token.ts';
import { createTokenStore } from './store.ts';
import { createTokenIssuing } from './token-issuing.ts';
import type { TokenIssuing } from './token-issuing.ts';

/** Access tokens: issued, found and revoked. */
export function openTokens(
  { config, logger, registry, redis, nowMs, account }: Platform,
  { clients, onClientLimited }: { clients: ClientDirectory; onClientLimited: () => void },
): {
  needs: {
    issuing: TokenIssuing;
    findLiveToken: FindLiveToken;
    revokeToken: RevokeToken;
    endConnection: EndConnection;
  };
  close: () => Promise<void>;
} {
  const tokens = createTokenStore(redis);
  const lastUsed = startLastUsed({
    account,
    intervalMs: config.LAST_USED_REPORT_INTERVAL_MS,
    maxEntries: config.LAST_USED_MAX_ENTRIES,
    nowMs,
    logger,
  });
  const surplus = new Counter({
    name: 'tollgate_surplus_tokens_ended_total',
    help: 'Live access tokens ended because their application or connection has newer ones up to its limit',
    registers: [registry],
  });
  const issuing = createTokenIssuing({
    runScript: defineScript(redis, ISSUE_LUA),
    perMinute: config.TOKEN_REQUESTS_PER_CLIENT_PER_MINUTE,
    liveMax: {
      perApplication: config.MAX_LIVE_TOKENS_PER_APPLICATION,
      perConnection: config.MAX_LIVE_TOKENS_PER_CONNECTION,
    },
    onLimited: onClientLimited,
    onSurplus: (count) => {
      surplus.inc(count);
    },
  });
  const findLiveToken = createFindLiveToken({
    tokens,
    clients,
    missLookUpsMaxInFlight: config.MISS_LOOK_UPS_MAX_IN_FLIGHT,
    onManualTokenUsed: lastUsed.note,
  });
  const revokeToken = createRevokeToken({ tokens, account });
  const endConnection = createEndConnection({ tokens, account });
  return { needs: { issuing, findLiveToken, revokeToken, endConnection }, close: lastUsed.close };
}
