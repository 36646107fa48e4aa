import { openIntrospection } from '@tollgate/introspection/open-introspection';
import type { Introspector } from '@tollgate/introspection';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { ClientChange } from '@tollgate/contracts/client-change';
import { createRequestHeads } from '@tollgate/plain-http/server';
import type { RequestHeads } from '@tollgate/plain-http/server';
import type { FollowedChannel } from '@tollgate/redis/follow-channels';
import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../../config.ts';
import { createAudience } from './audience.ts';
import { createAuthenticate } from './authenticate.ts';
import type { Authenticate } from './authenticate.ts';
import { createAuthenticateMetrics } from './metrics.ts';
import { createTokenWatch } from './token-watch.ts';
import type { TokenWatch } from './token-watch.ts';

/** Tokens, whose cache is used while `channel` is followed (docs/design/revocation.md). */
export function openAuthenticate(
  { config, logger, registry }: Pick<ComposeContext<Config>, 'config' | 'logger' | 'registry'>,
  auth: PrivateApi,
): {
  authenticate: Authenticate;
  authenticateMcp: Authenticate;
  /** Of the data API's callers. @throws {Problem} as `authenticate`, for another audience */
  introspect: Introspector['introspect'];
  tokenWatch: TokenWatch;
  /** Heads of calls whose tokens are cached. */
  recentHeads: RequestHeads;
  /** While no revocation can have been missed. */
  isTrusted: () => boolean;
  channel: FollowedChannel;
} {
  const recentHeads = createRequestHeads();
  const introspection = openIntrospection({
    config,
    auth,
    logger,
    onDropped: (what) => {
      forgetHeads(recentHeads, what);
      tokenWatch.onRevoked(what);
    },
    ...createAuthenticateMetrics(registry),
  });
  const tokenWatch = createTokenWatch(introspection);
  const audience = createAudience(config.STREAMING_URL, config.MCP_TOKENS);
  return {
    authenticate: createAuthenticate(introspection, audience.data),
    authenticateMcp: createAuthenticate(introspection, audience.mcp),
    introspect: async (token, requestId) => {
      const introspected = await introspection.introspect(token, requestId);
      if (introspected !== null) audience.data(introspected);
      return introspected;
    },
    tokenWatch,
    recentHeads,
    isTrusted: introspection.knowsRevocations,
    channel: introspection.channel,
  };
}

/** By the marks that authenticate.ts keeps them with. */
function forgetHeads(heads: Pick<RequestHeads, 'forgetMarked' | 'clear'>, what: ClientChange | 'all'): void {
  if (what === 'all') heads.clear();
  else heads.forgetMarked(what.change === 'token' ? what.token_hash : what.client_id);
}
