import { randomUUID } from 'node:crypto';
import { openIntrospection } from '@tollgate/introspection/open-introspection';
import type { Logger } from '@tollgate/log';
import { createPrivateApi } from '@tollgate/http/private-api-client';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { openRedis, redisTimeMs } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { batchWrites } from '@tollgate/redis/batch-writes';
import { observeReconnects } from '@tollgate/redis/metrics';
import { underCors } from '@tollgate/http/cors';
import type { Cors } from '@tollgate/http/cors';
import type { ComposeContext, Service } from '@tollgate/server';
import { observeCertificates } from '@tollgate/server/peer-certificates';
import { followClock } from '@tollgate/server/reference-clock';
import type { ReferenceClock } from '@tollgate/server/reference-clock';
import { createContinueHandler, createPlainApp, createPrivateApp, createPublicHandler } from '../app.ts';
import { createGatewayCors } from './cors.ts';
import { createWebSockets } from '../websocket/websockets.ts';
import { composeRefusals } from './refusals.ts';
import { composeUpstreams } from './upstreams.ts';
import type { Config } from '../config.ts';
import { createAdmission } from '../admission/admission.ts';
import { createAdmissionScript } from '../admission/admit-script.ts';
import { createLeases } from '../admission/leases.ts';
import { batchAdmissions } from '../admission/batch-admissions.ts';
import { createAuthenticate } from '../authenticate/authenticate.ts';
import { createDataEndpoint } from '../data-call/data-call.ts';
import { createReadKeptAnswer } from '../entitle/kept-answers.ts';
import { openEntitle } from '../entitle/open-entitle.ts';
import { createUpstreamMetrics } from '../forward/upstream/upstream-metrics.ts';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import { createPrime, createPrimeShard } from '../metering/live-usage/prime.ts';
import type { Prime } from '../metering/live-usage/prime.ts';
import { createPrimeFrom } from '../metering/live-usage/prime-script.ts';
import { createMetrics } from '../metrics.ts';
import type { Metrics } from '../metrics.ts';
import { webSocketSettings } from './part-settings.ts';
import { AuthUnavailable, peerUnavailable } from '../plain-routes/plain-routes.ts';
import { createProxy } from '../plain-routes/proxy.ts';
import { createCallMeter } from '../metering/call-meter.ts';
import { createSettleCall } from '../metering/settlement/settle-call.ts';
import type { SettlementTimeout } from '../metering/settlement/settle-call.ts';
import { createSendBatch } from '../metering/settlement/record-script.ts';
import { createUsageRecorder } from '../metering/settlement/record-usage.ts';
import type { UsageRecorder } from '../metering/settlement/record-usage.ts';
import { createTokenWatch } from '../authenticate/token-watch.ts';
import { createTraces } from '../trace/traces.ts';
import type { Recorder, Traces } from '../trace/traces.ts';

/** Of one gateway. account has limits of its own. */
const MAX_LIVE_FEEDS = 1_000;

/** Three of account's heartbeats. */
const LIVE_USAGE_TIMEOUT_MS = 30_000;

/** Builds the gateway from its settings, and closes it again. */
export async function compose(context: ComposeContext<Config>): Promise<Service> {
  const { config, logger, registry, draining, addressOf, trusts } = context;
  const metrics = createMetrics(registry);
  const store = openStore(context);
  const traces = createTraces(trusts, await openRecorder(config, logger));
  const peers = composePeers(context, store, metrics, traces);
  const { prime, usage, leases, admit } = composeMetering(config, store, peers.account, logger, metrics);
  const settlementTimeout = settlementTimeoutOf(config, metrics);
  const observerOf = createUpstreamMetrics(registry);
  const cors = createGatewayCors(config);
  const upstreams = composeUpstreams(config, { observerOf, trusts, cors, logger, metrics });
  const { v2, v1 } = upstreams;
  const { account, liveUsage, auth } = composePlainRoutes(config, trusts, cors);

  const refusals = composeRefusals(context, store.redis, { metrics, traces });
  const shared = { entitle: peers.entitle, admit, traces, ...refusals.reports };
  const webSockets = createWebSockets({
    ...webSocketSettings(config),
    upstreamObserver: observerOf('v2'),
    ...shared,
    ...{ trusts, addressOf, registry, prime },
    allowsOrigin: cors?.allows ?? null,
    introspect: peers.introspect,
    tokenWatch: peers.tokenWatch,
    record: usage.record,
    settlementTimeout,
  });
  const pipeline = {
    ...shared,
    authenticate: peers.authenticate,
    tokenWatch: peers.tokenWatch,
    meter: createCallMeter(createSettleCall(usage.record, settlementTimeout), {
      ...settlementTimeout,
      record: usage.record,
      prime,
      pointsPerMinute: config.SUBSCRIPTION_POINTS_PER_MINUTE,
    }),
    logger,
    onCall: metrics.onDataCall,
    onParts: metrics.onParts,
    addressOf,
  };
  const endpoints = createPublicHandler(
    {
      v2: createDataEndpoint({ ...pipeline, forward: v2.forward, apiVersion: 'v2' }),
      v1: v1 === null ? null : createDataEndpoint({ ...pipeline, forward: v1.forward, apiVersion: 'v1' }),
    },
    createPlainApp({ logger, registry, addressOf, account, liveUsage, auth }),
  );
  const listener = underCors(cors, endpoints);
  return {
    ...listener,
    continueHandler: createContinueHandler(listener.publicHandler),
    onRefusedHead: refusals.onRefusedHead,
    privateHandler: createPrivateApp({ logger, registry, redis: store.redis, draining }),
    upgradeHandler: webSockets.upgradeHandler,
    drain: (limits) => {
      upstreams.drain(limits);
      liveUsage.endAll();
      return webSockets.drain(limits);
    },
    close: async () => {
      await upstreams.endAbandoned();
      // First of all: usage that isn't in Redis yet ends with this process.
      await usage.flush();
      await refusals.close();
      for (const part of [leases, store.clock, account, liveUsage, auth]) part.close();
      await Promise.all([upstreams.close(), peers.close(), traces.close()]);
      store.redis.disconnect();
    },
  };
}

/** How long an answer waits for its usage to be recorded. */
function settlementTimeoutOf(config: Config, { onSettled }: Metrics): SettlementTimeout {
  return {
    timeoutMs: config.SETTLEMENT_PATIENCE_MS,
    unacknowledged: config.SETTLEMENT_UNACKNOWLEDGED,
    onSettled,
  };
}

function composePlainRoutes(config: Config, trusts: TrustsAddress, cors: Cors | null) {
  const options = {
    timeoutMs: config.PLAIN_ROUTE_TIMEOUT_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    drops: cors?.fields.drops ?? [],
    trusts,
  };
  const authUnavailable = (cause: unknown) => new AuthUnavailable(cause);
  return {
    account: createProxy(config.ACCOUNT_PUBLIC_URL, { ...options, unavailable: peerUnavailable }),
    // With connections of their own, which stay open, so that feeds can't use up those of requests.
    liveUsage: createProxy(config.ACCOUNT_PUBLIC_URL, {
      ...options,
      unavailable: peerUnavailable,
      timeoutMs: LIVE_USAGE_TIMEOUT_MS,
      maxOpen: MAX_LIVE_FEEDS,
    }),
    auth: createProxy(config.AUTH_PUBLIC_URL, { ...options, unavailable: authUnavailable }),
  };
}

/** Where there is no collector, nothing of OpenTelemetry is loaded. */
async function openRecorder(config: Config, logger: Logger): Promise<Recorder | null> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return null;
  const [{ createRecorder }, { providerOptionsOf }] = await Promise.all([
    import('../trace/recorder.ts'),
    import('@tollgate/trace/provider'),
  ]);
  const options = providerOptionsOf(config);
  return options === null ? null : createRecorder(options, logger);
}

/** Redis, and its clock. */
type Store = { redis: RedisConnection; clock: ReferenceClock };

function openStore({ config, logger, registry }: ComposeContext<Config>): Store {
  const redis = openRedis(config.REDIS_URL, logger);
  // Commands that are due at once go out in one write: with many payers that is a fifth of the gateway's CPU.
  batchWrites(redis);
  observeReconnects(redis, registry);
  const clock = followClock({ reference: 'redis', readMs: () => redisTimeMs(redis), registry, logger });
  return { redis, clock };
}

/** What admission reads and settlement writes: the payers' shards in Redis. */
function composeMetering(
  config: Config,
  store: Store,
  account: PrivateApi,
  logger: Logger,
  metrics: Metrics,
) {
  const { redis } = store;
  const prime = createPrime({
    account: account,
    primeFrom: createPrimeFrom(redis),
    onPrime: metrics.onPrime,
  });
  const usage = composeUsageRecorder(config, store, prime, logger, metrics);
  const leases = createLeases(redis, logger);
  metrics.observeLeases(leases.held);
  const admit = createAdmission({
    decide: batchAdmissions(createAdmissionScript(redis)),
    prime,
    leases,
    canRecord: usage.canRecord,
    onAdmission: metrics.onAdmission,
  });
  return { prime, usage, leases, admit };
}

function composeUsageRecorder(
  config: Config,
  { redis, clock }: Store,
  prime: Prime,
  logger: Logger,
  metrics: Metrics,
): UsageRecorder {
  const usage = createUsageRecorder({
    gatewayId: randomUUID(),
    send: createSendBatch(redis),
    primeShard: createPrimeShard(prime),
    redisIsReady: () => redis.status === 'ready',
    maxQueuedEvents: config.SETTLEMENT_QUEUE_MAX_EVENTS,
    nowMs: clock.nowMs,
    logger,
    onBatch: metrics.onBatch,
    onMetered: metrics.onMetered,
  });
  metrics.observeQueue(usage.queuedEvents);
  // However the process ends, a shutdown that Redis outlasted included: nothing is lost without a word.
  process.once('exit', () => {
    const lost = usage.queuedEvents();
    if (lost > 0) logger.error({ lost_events: lost }, 'usage was lost: Redis has not acknowledged it');
  });
  return usage;
}

function composePeers(
  { config, logger, registry }: ComposeContext<Config>,
  { redis }: Pick<Store, 'redis'>,
  metrics: Metrics,
  traces: Traces,
) {
  const certificateOf = observeCertificates(registry);
  const caller = {
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    traceFields: traces.fieldsOf,
  };
  const openPeer = (name: 'auth' | 'account', baseUrl: string) =>
    createPrivateApi({ baseUrl, ...caller, onConnected: certificateOf(name, baseUrl) });
  const auth = openPeer('auth', config.AUTH_PRIVATE_URL);
  const account = openPeer('account', config.ACCOUNT_PRIVATE_URL);
  const introspection = openIntrospection({
    config,
    auth,
    logger,
    onDropped: (what) => {
      tokenWatch.onRevoked(what);
    },
    onLookup: metrics.onIntrospection,
  });
  const tokenWatch = createTokenWatch(introspection);
  const entitlements = openEntitle({
    account,
    readKeptAnswer: createReadKeptAnswer(redis),
    cacheTtlMs: config.ENTITLEMENT_CACHE_TTL_MS,
    staleIfErrorMs: config.ENTITLEMENT_STALE_IF_ERROR_MS,
    cacheMaxEntries: config.ENTITLEMENT_CACHE_MAX_ENTRIES,
    redisUrl: config.REDIS_URL,
    logger,
    onLookup: metrics.onEntitlement,
    onLoaded: metrics.onEntitlementLoaded,
  });
  metrics.observeTrust('introspection', introspection.knowsRevocations);
  metrics.observeTrust('entitlement', entitlements.isTrusted);
  return {
    account,
    introspect: introspection.introspect,
    tokenWatch,
    authenticate: createAuthenticate(introspection),
    entitle: entitlements.entitle,
    close: async () => {
      tokenWatch.close();
      introspection.close();
      entitlements.close();
      await Promise.all([auth.close(), account.close()]);
    },
  };
}
