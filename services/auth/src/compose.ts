import type { Registry } from 'prom-client';
import { redisTls } from '@tollgate/config/store-tls';
import { createPrivateApi } from '@tollgate/http/private-api-client';
import type { HttpRequest } from '@tollgate/plain-http/message';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { openRedis, redisTimeMs } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { batchWrites } from '@tollgate/redis/batch-writes';
import { observeReconnects, observeServers } from '@tollgate/redis/metrics';
import type { ComposeContext, Service } from '@tollgate/server';
import { observeCertificates } from '@tollgate/server/peer-certificates';
import { followClock } from '@tollgate/server/reference-clock';
import type { ReferenceClock } from '@tollgate/server/reference-clock';
import { currentTraceFields, openServiceTraces } from '@tollgate/trace/service-traces';
import type { ServiceTraces } from '@tollgate/trace/service-traces';
import { createCallerOf } from './abuse/caller.ts';
import { createFailedAttempts } from './abuse/failed-attempts.ts';
import type { FailedAttempts } from './abuse/failed-attempts.ts';
import { createPrivateApp, createPublicApp } from './app.ts';
import { createClientAuthenticator } from './client/authenticator.ts';
import { createClientStore } from './client/client-store.ts';
import { createClientDirectory } from './client/directory.ts';
import { followChanges } from './client/follow-changes.ts';
import type { ClientDirectory } from './client/directory.ts';
import type { Config } from './config.ts';
import type { Handlers } from './http/direct-routes.ts';
import { refuseEvictingRedis } from './redis/eviction-policy.ts';
import { defineScript } from './redis/redis-script.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { createRestoreStore } from './restore/restore-store.ts';
import { startRestore } from './restore/restore.ts';
import { startLastUsed } from './token/last-used.ts';
import { createFindLiveToken } from './token/live-token.ts';
import { createRevokeToken } from './token/revoke-token.ts';
import { createTokenStore } from './token/store.ts';
import { ISSUE_LUA } from './token/issue-script.ts';
import { createTokenIssuing } from './token/token-issuing.ts';

/** Starts without Redis and account too; readiness reports what is unavailable. */
export async function compose(context: ComposeContext<Config>): Promise<Service> {
  const { config, logger, registry, draining, addressOf, accessLog, trusts } = context;
  const redis = openRedis(config.REDIS_URL, logger, { tls: redisTls(config) });
  batchWrites(redis);
  observeReconnects(redis, registry);
  observeServers(redis, registry);
  const clock = followClock({ reference: 'redis', readMs: () => redisTimeMs(redis), registry, logger });
  if (!config.ALLOW_EVICTING_REDIS) await refuseEvictingRedis(redis, logger);
  const traces = await openServiceTraces(config, redis, logger);
  const account = openAccount(config, registry);
  const clients = createClientDirectory({
    store: createClientStore(redis, config.CLIENT_CACHE_TTL_MS),
    account,
    cacheTtlMs: config.CLIENT_CACHE_TTL_MS,
    unknownMaxEntries: config.UNKNOWN_CLIENT_CACHE_MAX_ENTRIES,
    logger,
  });
  const followed = followChanges({
    url: config.REDIS_URL,
    tls: redisTls(config),
    alongside: redis,
    clients,
    logger,
  });
  const metrics = createMetrics(registry);
  const { tokenParts, lastUsed, restore } = composeTokens(
    context,
    { redis, clock },
    account,
    clients,
    metrics.restoring,
  );
  const parts = {
    logger,
    registry,
    draining,
    addressOf,
    accessLog,
    redis,
    metrics,
    authenticate: createClientAuthenticator({
      clients,
      peppers: config.CLIENT_SECRET_PEPPERS,
      nowMs: clock.nowMs,
      failedAttempts: composeFailedAttempts(config, redis, metrics),
    }),
    issuing: createTokenIssuing({
      runScript: defineScript(redis, ISSUE_LUA),
      perMinute: config.TOKEN_REQUESTS_PER_CLIENT_PER_MINUTE,
      onLimited: () => {
        metrics.limited.inc({ limit: 'client' });
      },
    }),
    issuer: config.ISSUER_URL,
    strictTransportSecurity: config.STRICT_TRANSPORT_SECURITY,
    callerOf: createCallerOf(addressOf),
    introspectionsPerCallerPerSec: config.INTROSPECTIONS_PER_CALLER_PER_SEC,
    revocationsPerClientPerSec: config.REVOCATIONS_PER_CLIENT_PER_SEC,
    ...tokenParts,
    clients,
    restoring: restore.restoring,
    tokenPrefix: config.TOKEN_PREFIX,
    maxBodyBytes: config.MAX_BODY_BYTES,
    checkAnswers: config.CHECK_ANSWERS,
    serviceCredentials: config.SERVICE_CREDENTIALS,
  };
  const publicApp = traced(createPublicApp(parts), traces, (req) => trusts(req.socket.remoteAddress));
  const privateApp = traced(createPrivateApp(parts), traces, () => true);
  return {
    publicHandler: publicApp.handler,
    fastPath: publicApp.fastPath,
    privateHandler: privateApp.handler,
    privateFastPath: privateApp.fastPath,
    close: async () => {
      followed.close();
      await Promise.all([restore.close(), lastUsed.close()]);
      await Promise.all([account.close(), traces.close()]);
      clock.close();
      redis.disconnect();
    },
  };
}

/** Traces the requests of both ways in. */
function traced(
  { handler, fastPath }: Handlers,
  { wrap }: ServiceTraces,
  continues: (req: HttpRequest) => boolean,
): Handlers {
  return {
    handler: wrap(handler, continues),
    fastPath: { ...fastPath, handler: wrap(fastPath.handler, continues) },
  };
}

function openAccount(config: Config, registry: Registry): PrivateApi {
  return createPrivateApi({
    baseUrl: config.ACCOUNT_PRIVATE_URL,
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    plainHttp: config.PLAIN_HTTP === 'on',
    traceFields: currentTraceFields,
    onConnected: observeCertificates(registry)('account', config.ACCOUNT_PRIVATE_URL),
  });
}

function composeFailedAttempts(config: Config, redis: RedisConnection, metrics: Metrics): FailedAttempts {
  return createFailedAttempts({
    redis,
    limits: {
      perClientAndAddress: config.FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS,
      perAddress: config.FAILED_ATTEMPTS_PER_ADDRESS,
      windowMs: config.FAILED_ATTEMPTS_WINDOW_SEC * 1_000,
    },
    onLimited: (limit) => {
      metrics.limited.inc({ limit });
    },
  });
}

function composeTokens(
  { config, logger }: Pick<ComposeContext<Config>, 'config' | 'logger'>,
  { redis, clock }: { redis: RedisConnection; clock: ReferenceClock },
  account: PrivateApi,
  clients: ClientDirectory,
  gauge: Metrics['restoring'],
) {
  const tokens = createTokenStore(redis);
  const lastUsed = startLastUsed({
    account,
    intervalMs: config.LAST_USED_REPORT_INTERVAL_MS,
    maxEntries: config.LAST_USED_MAX_ENTRIES,
    nowMs: clock.nowMs,
    logger,
  });
  const restore = startRestore({
    store: createRestoreStore(redis),
    account,
    clients,
    checkIntervalMs: config.RESTORE_CHECK_INTERVAL_MS,
    maxInFlight: config.RESTORE_MAX_IN_FLIGHT,
    logger,
    gauge,
  });
  const findLiveToken = createFindLiveToken({
    tokens,
    clients,
    missLookUpsMaxInFlight: config.MISS_LOOK_UPS_MAX_IN_FLIGHT,
    onManualTokenUsed: lastUsed.note,
  });
  const revokeToken = createRevokeToken({ tokens, account });
  return { tokenParts: { findLiveToken, revokeToken }, lastUsed, restore };
}
