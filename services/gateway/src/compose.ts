import { Gauge } from 'prom-client';
import { redisTls } from '@tollgate/config/store-tls';
import type { Logger } from '@tollgate/log';
import { createPrivateApi } from '@tollgate/http/private-api-client';
import { underCors } from '@tollgate/http/cors';
import { followChannels } from '@tollgate/redis/follow-channels';
import type { ComposeContext, Service } from '@tollgate/server';
import { observeCertificates } from '@tollgate/server/peer-certificates';
import {
  createContinueHandler,
  createDataEndpointOf,
  createPlainApp,
  createPrivateApp,
  createPublicHandler,
} from './app.ts';
import { createGatewayCors } from './cors.ts';
import { openMcp } from './mcp/open-mcp.ts';
import { createWebSockets } from './websocket/websockets.ts';
import { openRefusals } from './refusals/open-refusals.ts';
import { comparePlanLimits } from './streams/plan-capacity.ts';
import { openUpstreams } from './pipeline/forward/open-upstreams.ts';
import type { Config } from './config.ts';
import { openAuthenticate } from './pipeline/authenticate/open-authenticate.ts';
import { observeCacheTrust } from './pipeline/cache-trust.ts';
import { createDataEndpoint } from './pipeline/data-call.ts';
import { entitleWithDocuments } from './pipeline/entitle/with-documents.ts';
import { openEntitle } from './pipeline/entitle/open-entitle.ts';
import { createUpstreamMetrics } from './pipeline/forward/upstream/metrics.ts';
import { createCallMetrics } from './pipeline/metrics.ts';
import { openMetering, openRecalls } from './open-metering.ts';
import type { Recalls } from './open-metering.ts';
import { openLongBodies } from './body-worker/open-long-bodies.ts';
import type { OpenLongBody } from './operation-reader/long-bodies.ts';
import { createReadDataCall } from './operation-reader/read-call.ts';
import type { ReadDataCall } from './operation-reader/read-call.ts';
import { createPassUnread } from './operation-reader/unread-calls.ts';
import { openStoredDocuments } from './operation-reader/open-stored-documents.ts';
import { createReaderOf } from './operation-reader/readers-of-plans.ts';
import type { ReaderOf } from './operation-reader/readers-of-plans.ts';
import type { DocumentsOf } from './operation-reader/open-stored-documents.ts';
import { createCheckPrice } from './estimate/check-price.ts';
import { createAnswerEstimate } from './estimate/estimate-only.ts';
import type { Estimates } from './estimate/estimates.ts';
import { openEstimates } from './estimate/open-estimates.ts';
import { webSocketSettings } from './websocket/settings.ts';
import { openStore } from './ledger/open-store.ts';
import type { Store } from './ledger/open-store.ts';
import { openPassedOn } from './passed-on/open-passed-on.ts';
import { createMeterStream } from './streams/answer-stream.ts';
import { createSettle } from './pipeline/settle/settle-call.ts';
import type { SettlementTimeout } from './pipeline/settle/settle-call.ts';
import { createTraces } from './trace/traces.ts';
import type { Recorder, Traces } from './trace/traces.ts';

/** Of the connections to the upstream, the part that uploads may hold while their callers send them. */
const PART_OF_UPLOADS = 4;

/** Builds the gateway from its settings, and closes it again. */
export async function compose(context: ComposeContext<Config>): Promise<Service> {
  const { config, logger, registry, draining, addressOf, trusts } = context;
  const store = openStore(context);
  const traces = createTraces(trusts, await openRecorder(config, logger));
  const recalls = openRecalls();
  const peers = composePeers(context, store, traces, recalls);
  const { primePayer, readPointsLeft, usage, admit, close } = openMetering(context, store, peers, recalls);
  const { onDataCall, onSteps, onSettled, onCompared } = createCallMetrics(registry);
  const settlementTimeout = settlementTimeoutOf(config, onSettled);
  const observerOf = createUpstreamMetrics(registry);
  const cors = createGatewayCors(config);
  const upstreams = openUpstreams(context, { observerOf, cors });
  const { account, paymentEvents, liveUsage, auth } = openPassedOn(config, { trusts, addressOf }, cors);

  const refusals = openRefusals(context, store.redis, traces);
  const readerOf = createReaderOf({
    maxDocumentBytes: config.GRAPHQL_MAX_DOCUMENT_BYTES,
    guards: {
      maxDepth: config.GRAPHQL_MAX_DEPTH,
      maxAliases: config.GRAPHQL_MAX_ALIASES,
      maxRootFields: config.GRAPHQL_MAX_ROOT_FIELDS,
      maxDirectives: config.GRAPHQL_MAX_DIRECTIVES,
      maxTokens: config.GRAPHQL_MAX_TOKENS,
      introspection: config.GRAPHQL_INTROSPECTION === 'on',
    },
    batchLimit: config.GRAPHQL_BATCH_LIMIT,
  });
  const longBodies = openLongBodies({ maxBodyBytes: config.MAX_REQUEST_BODY_BYTES });
  const estimating = await openEstimates(context);
  const documents = await openStoredDocuments(context, peers.account);
  const entitle = entitleWithDocuments(peers.entitle, documents.loadOfApplication);
  const shared = { entitle, admit, traces, ...refusals.reports };
  const webSockets = createWebSockets({
    settings: webSocketSettings(config),
    upstreamObserver: observerOf('v2'),
    ...shared,
    trusts,
    addressOf,
    registry,
    primePayer,
    readPointsLeft,
    readerOf,
    documentsOf: documents.v2,
    checkPrice: createCheckPrice(estimating.v2),
    missingPoints:
      config.MISSING_POINTS === 'estimate'
        ? (request) => estimating.v2.ofRequest(request)?.points ?? null
        : null,
    estimateRate: estimating.rate,
    allowsOrigin: cors?.allows ?? null,
    introspect: peers.introspect,
    tokenWatch: peers.tokenWatch,
    record: usage.record,
    settlementTimeout,
    onCompared,
  });
  const pipeline = {
    ...shared,
    authenticate: peers.authenticate,
    tokenWatch: peers.tokenWatch,
    readCall: openReadCall(context, readerOf, longBodies.open),
    meterStream: createMeterStream({
      record: usage.record,
      primePayer,
      readPointsLeft,
      pointsPerMinute: config.SUBSCRIPTION_POINTS_PER_MINUTE,
    }),
    settle: createSettle(usage.record, settlementTimeout, onCompared),
    estimateRate: estimating.rate,
    pointsPerMinute: config.SUBSCRIPTION_POINTS_PER_MINUTE,
    logger,
    onCall: onDataCall,
    onSteps,
    addressOf,
  };
  const estimatesOf = (estimates: Estimates, documentsOf: DocumentsOf) => ({
    estimates,
    documentsOf,
    checkPrice: createCheckPrice(estimates),
    answerEstimate: createAnswerEstimate({
      estimates,
      readPointsLeft,
      pointsPerMinute: config.SUBSCRIPTION_POINTS_PER_MINUTE,
    }),
  });
  const dataEndpointOf = createDataEndpointOf({
    v2: createDataEndpoint({
      ...pipeline,
      ...estimatesOf(estimating.v2, documents.v2),
      forward: upstreams.v2.forward,
      apiVersion: 'v2',
    }),
    v1:
      upstreams.v1 &&
      createDataEndpoint({
        ...pipeline,
        ...estimatesOf(estimating.v1, documents.v1),
        forward: upstreams.v1.forward,
        apiVersion: 'v1',
      }),
  });
  const mcp = openMcp(context, {
    dataEndpointOf: (caller) =>
      createDataEndpoint({
        ...pipeline,
        ...caller,
        ...estimatesOf(estimating.v2, documents.v2),
        forward: upstreams.v2.forward,
        apiVersion: 'v2',
      }),
    authenticate: peers.authenticateMcp,
    entitle,
    estimateRate: estimating.rate,
    schemaText: estimating.schemaText,
    cors,
    logFailure: refusals.reports.logFailure,
  });
  const stopComparing = comparePlanLimits(peers.account, config.UPSTREAM_STREAMS_PER_PAYER, logger);
  const plainApp = createPlainApp({
    logger,
    registry,
    addressOf,
    account,
    paymentEvents,
    liveUsage,
    auth,
    mcp,
    strictTransportSecurity: config.STRICT_TRANSPORT_SECURITY,
  });
  const listener = underCors(cors, createPublicHandler(dataEndpointOf, plainApp));
  return {
    ...listener,
    fastPath: { handlerOf: dataEndpointOf, recentHeads: peers.recentHeads },
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
      await mcp?.close();
      await upstreams.endAbandoned();
      await close();
      await refusals.close();
      stopComparing();
      estimating.close();
      documents.close();
      store.clock.close();
      const pools = [account, paymentEvents, liveUsage, auth, upstreams, peers, longBodies];
      await Promise.all([...pools.map((pool) => pool.close()), traces.close()]);
      store.redis.disconnect();
    },
  };
}

function openReadCall(
  { config, registry }: Pick<ComposeContext<Config>, 'config' | 'registry'>,
  readerOf: ReaderOf,
  openLongBody: OpenLongBody,
): ReadDataCall {
  const isRead = config.GRAPHQL_READ === 'on';
  const gauge = { name: 'tollgate_graphql_read', help: 'Whether calls are read (GRAPHQL_READ): 1, or 0' };
  new Gauge({ ...gauge, registers: [registry] }).set(Number(isRead));
  const bodies = {
    body: {
      maxBytes: config.MAX_REQUEST_BODY_BYTES,
      idleTimeoutMs: config.UPSTREAM_BODY_IDLE_TIMEOUT_MS,
      totalTimeoutMs: config.REQUEST_BODY_TIMEOUT_MS,
    },
    bodiesMaxBytes: config.GRAPHQL_BODIES_MAX_BYTES,
  };
  const acceptsUploads = config.GRAPHQL_UPLOADS === 'on';
  const maxUploads = acceptsUploads ? Math.ceil(config.UPSTREAM_CONNECTIONS / PART_OF_UPLOADS) : 0;
  return isRead
    ? createReadDataCall({ readerOf, ...bodies, maxUploads, openLongBody })
    : createPassUnread(bodies);
}

/** How long an answer waits for its usage to be recorded. */
function settlementTimeoutOf(
  config: Config,
  onSettled: NonNullable<SettlementTimeout['onSettled']>,
): SettlementTimeout {
  return {
    timeoutMs: config.SETTLEMENT_TIMEOUT_MS,
    unacknowledged: config.SETTLEMENT_UNACKNOWLEDGED,
    onSettled,
  };
}

/** Where there is no collector, nothing of OpenTelemetry is loaded. */
async function openRecorder(config: Config, logger: Logger): Promise<Recorder | null> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return null;
  const [{ createRecorder }, { providerOptionsOf }] = await Promise.all([
    import('./trace/recorder.ts'),
    import('@tollgate/trace/provider'),
  ]);
  const options = providerOptionsOf(config);
  return options === null ? null : createRecorder(options, logger);
}

function composePeers(
  context: ComposeContext<Config>,
  { redis }: Pick<Store, 'redis'>,
  traces: Traces,
  recalls: Recalls,
) {
  const { config, logger, registry } = context;
  const certificateOf = observeCertificates(registry);
  const caller = {
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    plainHttp: config.PLAIN_HTTP === 'on',
    traceFields: traces.fieldsOf,
  };
  const openPeer = (name: 'auth' | 'account', baseUrl: string) =>
    createPrivateApi({ baseUrl, ...caller, onConnected: certificateOf(name, baseUrl) });
  const auth = openPeer('auth', config.AUTH_PRIVATE_URL);
  const account = openPeer('account', config.ACCOUNT_PRIVATE_URL);
  const { authenticate, authenticateMcp, introspect, tokenWatch, recentHeads, ...tokens } = openAuthenticate(
    context,
    auth,
  );
  const { entitle, isTrusted, channel } = openEntitle(context, { account, redis });
  const followed = followChannels({
    url: config.REDIS_URL,
    tls: redisTls(config),
    alongside: redis,
    channels: [tokens.channel, channel, recalls.channel],
    logger,
  });
  observeCacheTrust(registry, { introspection: tokens.isTrusted, entitlement: isTrusted });
  return {
    account,
    introspect,
    tokenWatch,
    authenticate,
    authenticateMcp,
    recentHeads,
    entitle,
    isTrusted,
    close: async () => {
      tokenWatch.close();
      followed.close();
      await Promise.all([auth.close(), account.close()]);
    },
  };
}
