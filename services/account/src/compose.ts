import type { RequestListener } from 'node:http';
import { resolve } from 'node:path';
import type { Registry } from 'prom-client';
import { createCors, underCors } from '@tollgate/http/cors';
import { openIntrospection } from '@tollgate/introspection/open-introspection';
import type { Logger } from '@tollgate/log';
import { createPrivateApi } from '@tollgate/http/private-api-client';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { databaseTls, redisTls } from '@tollgate/config/store-tls';
import { openRedis, redisTimeMs } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { followChannels } from '@tollgate/redis/follow-channels';
import { batchWrites } from '@tollgate/redis/batch-writes';
import { observeReconnects } from '@tollgate/redis/metrics';
import type { ComposeContext, Service } from '@tollgate/server';
import { observeCertificates } from '@tollgate/server/peer-certificates';
import { followClock } from '@tollgate/server/reference-clock';
import type { ReferenceClockOptions } from '@tollgate/server/reference-clock';
import { checkRedis } from '@tollgate/server/redis-check';
import { Refusal } from '@tollgate/server/refusal';
import { currentTraceFields, openServiceTraces } from '@tollgate/trace/service-traces';
import { createPrivateApp, createPublicApp } from './app.ts';
import { createApplications } from './access/applications/applications.ts';
import { openBilling } from './compose/billing.ts';
import { openConsole } from './compose/console.ts';
import { openLiveUsage } from './compose/live-usage.ts';
import { openRefusedCalls } from './compose/refused-calls.ts';
import { openUsage } from './compose/usage.ts';
import type { Config } from './config.ts';
import { openDatabase } from './platform/database/database.ts';
import { observePostgres } from './platform/database/metrics.ts';
import { createPostgresServer, isReadOnly } from './platform/database/postgres-server.ts';
import type { PostgresServer } from './platform/database/postgres-server.ts';
import { checkSettings } from './platform/database/session-settings.ts';
import { startNotices } from './platform/background/notices.ts';
import { createQuery, createTransact } from './platform/database/query.ts';
import type { Query } from './platform/database/query.ts';
import { checkSchemaServesThisVersion } from './platform/database/schema-version.ts';
import { createKeptAnswers } from './billing/entitlements/kept-answers.ts';
import type { KeptAnswers } from './billing/entitlements/kept-answers.ts';
import {
  ENTITLEMENT_NOTICES,
  createPublisherMetrics,
  startEntitlementPublisher,
} from './billing/entitlements/publisher.ts';
import { createOutboxMetrics } from './platform/outbox/metrics.ts';
import { createPublishedClientChanges } from './access/client-changes/publisher.ts';
import {
  CLIENT_CHANGE_METRICS,
  createClientChangeLag,
  startClientChangeOutbox,
} from './access/client-changes/client-change-outbox.ts';
import { DUE_WORK_CHANNEL, startDueWatch } from './platform/background/due-watch.ts';
import { createTokens } from './access/tokens/tokens.ts';
import { createRepairUsage } from './counting/repairs/repair.ts';
import { DATABASE_POOLS } from './platform/database/pools.ts';

/**
 * Starts without its dependencies; readiness reports which are unavailable.
 * @throws {Refusal} if the schema is too new (docs/design/stores.md)
 */
export async function compose(context: ComposeContext<Config>): Promise<Service> {
  const { config, logger, registry, draining, trusts, addressOf, accessLog } = context;
  const server = createPostgresServer({
    url: config.DATABASE_URL,
    tls: databaseTls(config),
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
  });
  const databases = openDatabases(server, config, logger);
  const { database } = databases;
  const query = createQuery(database);
  // Before the first connection, so that its certificate is observed.
  observePostgres(registry, query);
  await checkDatabase(query).catch(throwRefusal);
  const redis = openObservedRedis(context);
  const traces = await openServiceTraces(config, redis, logger);
  const auth = openAuth(config, registry);
  const introspection = openIntrospection({ config, auth, logger });
  const followed = followChannels({
    url: config.REDIS_URL,
    tls: redisTls(config),
    alongside: redis,
    channels: [introspection.channel],
    logger,
  });
  const clocks = followClocks(redis, query, { registry, logger });
  const keptAnswers = createKeptAnswers(redis, registry);
  const outboxes = startOutboxes(context, { server, ...databases }, { auth, redis, keptAnswers });
  const { notices, dueWatch, outbox, publisher } = outboxes;
  const transact = createTransact(database);
  const console = openConsole({ config, server, query, transact, dueWatch, logger, registry });
  const usage = openUsage({
    config,
    server,
    database,
    redis,
    dueWatch,
    redisClock: clocks.redis,
    logger,
    registry,
  });
  const { onTotalsChanged } = usage;
  const billing = openBilling({ server, transact, dueWatch, logger, registry, onTotalsChanged });
  const refusedCalls = openRefusedCalls({ server, redis, logger, registry });
  const liveFeeds = openLiveUsage({ config, server, logger, registry });
  const workers = [notices, dueWatch, outbox, publisher, billing, console, usage, refusedCalls, liveFeeds];
  const { applications, tokens } = openAccess(config, { transact, query, deliver: outbox.deliver });
  const checks = {
    postgres: () => checkPostgres(query, server),
    redis: () => checkRedis(redis, (tag) => `${tag}:never`),
  };
  const shared = {
    logger,
    addressOf,
    registry,
    checkAnswers: config.CHECK_ANSWERS,
  };
  const usageQuery = createQuery(databases.usageDatabase);
  const cors = createCors(config.CORS_ALLOWED_ORIGINS, { '/api/usage': 'GET' });
  const publicApp = createPublicApp({
    ...shared,
    query,
    usageQuery,
    introspect: introspection.introspect,
    accessLog,
    trusts,
    strictTransportSecurity: config.STRICT_TRANSPORT_SECURITY,
    consoleDirectory: resolve(config.CONSOLE_DIR),
    brand: brandOf(config),
    console: { ...console.parts, deliver: outbox.deliver, applications, tokens, liveFeeds },
  });
  const listener = underCors(cors, publicApp);
  const privateApp: RequestListener = createPrivateApp({
    ...shared,
    checks,
    draining,
    credentials: {
      operator: config.OPERATOR_CREDENTIALS,
      reporter: config.USAGE_REPORTER_CREDENTIALS,
      service: config.SERVICE_CREDENTIALS,
    },
    needs: {
      ...billing.operations,
      ...usage.operations,
      query,
      usageQuery,
      applications,
      tokens,
      keptAnswers,
      healthReport: { database: billing.checkDatabase, redis, ...checkedSettings(config) },
      repairUsage: createRepairUsage({ database: billing.checkDatabase, redis, onTotalsChanged }),
    },
  });
  return {
    ...listener,
    publicHandler: traces.wrap(listener.publicHandler, (req) => trusts(req.socket.remoteAddress)),
    privateHandler: traces.wrap(privateApp, () => true),
    drain: () => {
      liveFeeds.drain();
      return Promise.resolve();
    },
    close: async () => {
      await Promise.all(workers.map((each) => each.close()));
      await Promise.all([auth.close(), ...Object.values(databases).map((each) => each.destroy())]);
      await traces.close();
      followed.close();
      for (const clock of Object.values(clocks)) clock.close();
      redis.disconnect();
    },
  };
}

/** @throws {Refusal} if the service can't work with this database */
async function checkDatabase(query: Query): Promise<void> {
  await checkSettings(query);
  await checkSchemaServesThisVersion(query);
}

/** Readiness: a server that has become read-only is left, in case its successor has the same address. */
async function checkPostgres(query: Query, server: PostgresServer): Promise<void> {
  await checkDatabase(query);
  if (!(await isReadOnly(query))) return;
  server.replaceConnections();
  throw new Refusal('Postgres is read-only.');
}

/** Without Postgres, the service starts all the same. */
function throwRefusal(error: unknown): void {
  if (error instanceof Refusal) throw error;
}

/** What `tollgate doctor` compares with what runs. */
function checkedSettings(config: Config) {
  return {
    authPrivateUrl: config.AUTH_PRIVATE_URL,
    publicUrl: config.PUBLIC_URL,
    sealingKeys: config.TOKEN_SEALING_KEYS,
  };
}

function brandOf(config: Config) {
  return {
    productName: config.PRODUCT_NAME,
    logoPath: config.PRODUCT_LOGO_PATH,
    accentColor: config.ACCENT_COLOR,
  };
}

function openAuth(config: Config, registry: Registry): PrivateApi {
  return createPrivateApi({
    baseUrl: config.AUTH_PRIVATE_URL,
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    plainHttp: config.PLAIN_HTTP === 'on',
    traceFields: currentTraceFields,
    onConnected: observeCertificates(registry)('auth', config.AUTH_PRIVATE_URL),
  });
}

function openAccess(
  config: Config,
  changes: Pick<Parameters<typeof createTokens>[0], 'transact' | 'query' | 'deliver'>,
) {
  return {
    applications: createApplications({
      ...changes,
      peppers: config.CLIENT_SECRET_PEPPERS,
      maxApplicationsPerAccount: config.MAX_APPLICATIONS_PER_ACCOUNT,
    }),
    tokens: createTokens({
      ...changes,
      tokenPrefix: config.TOKEN_PREFIX,
      sealingKeys: config.TOKEN_SEALING_KEYS,
      maxTokensPerApplication: config.MAX_MANUAL_TOKENS_PER_APPLICATION,
    }),
  };
}

/** Notifies auth of changed applications, and gateways of these and of changed entitlements. */
function startOutboxes(
  { config, logger, registry }: Pick<ComposeContext<Config>, 'config' | 'logger' | 'registry'>,
  {
    server,
    outboxDatabase,
    eventDatabase,
    dueDatabase,
  }: ReturnType<typeof openDatabases> & { server: PostgresServer },
  { auth, redis, keptAnswers }: { auth: PrivateApi; redis: RedisConnection; keptAnswers: KeptAnswers },
) {
  const dueQuery = createQuery(dueDatabase);
  const notices = startNotices({
    server,
    channels: [DUE_WORK_CHANNEL, ENTITLEMENT_NOTICES],
    notify: () => dueQuery(`NOTIFY ${DUE_WORK_CHANNEL}`),
  });
  const dueWatch = startDueWatch(dueQuery, notices);
  return {
    notices,
    dueWatch,
    outbox: startClientChangeOutbox({
      query: createQuery(outboxDatabase),
      auth,
      redis,
      dueWatch,
      deliveryTimeoutMs: config.PRIVATE_API_TIMEOUT_MS,
      logger,
      metrics: createOutboxMetrics(registry, CLIENT_CHANGE_METRICS),
      observeLag: createClientChangeLag(registry),
      published: createPublishedClientChanges(registry),
    }),
    publisher: startEntitlementPublisher({
      database: eventDatabase,
      notices,
      redis,
      dueWatch,
      keptAnswers,
      logger,
      metrics: createPublisherMetrics(registry),
    }),
  };
}

/** Redis' clock stamps usage; Postgres' decides which period applies. */
function followClocks(
  redis: RedisConnection,
  query: Query,
  told: Pick<ReferenceClockOptions, 'registry' | 'logger'>,
) {
  const readPostgresMs = async () => {
    const sql = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms';
    const [row] = await query<{ now_ms: number }>(sql);
    return row?.now_ms ?? NaN;
  };
  return {
    redis: followClock({ reference: 'redis', readMs: () => redisTimeMs(redis), ...told }),
    postgres: followClock({ reference: 'postgres', readMs: readPostgresMs, ...told }),
  };
}

function openObservedRedis({ config, logger, registry }: ComposeContext<Config>): RedisConnection {
  const redis = openRedis(config.REDIS_URL, logger, { tls: redisTls(config) });
  // The usage reader reads 64 streams by a command each.
  batchWrites(redis);
  observeReconnects(redis, registry);
  return redis;
}

function openDatabases(
  server: PostgresServer,
  { DATABASE_POOL_MAX: poolMax }: Pick<Config, 'DATABASE_POOL_MAX'>,
  logger: Logger,
) {
  return {
    database: openDatabase({ server, poolMax, logger, ...DATABASE_POOLS.requests }),
    outboxDatabase: openDatabase({ server, logger, ...DATABASE_POOLS.revocations }),
    usageDatabase: openDatabase({ server, logger, ...DATABASE_POOLS.usageViews }),
    dueDatabase: openDatabase({ server, logger, ...DATABASE_POOLS.dueWork }),
    eventDatabase: openDatabase({ server, logger, ...DATABASE_POOLS.entitlementEvents }),
  };
}
