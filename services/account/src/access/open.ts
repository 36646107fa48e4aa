import type { Counter } from 'prom-client';
import { codePrefix } from '@tollgate/credentials/grant-tokens';
import { redisTls } from '@tollgate/config/store-tls';
import { createPrivateApi } from '@tollgate/http/private-api-client';
import type { Introspector } from '@tollgate/introspection';
import { openIntrospection } from '@tollgate/introspection/open-introspection';
import type { Logger } from '@tollgate/log';
import { followChannels } from '@tollgate/redis/follow-channels';
import { observeCertificates } from '@tollgate/server/peer-certificates';
import { currentTraceFields } from '@tollgate/trace/service-traces';
import type { AttemptCounts } from '../identity/attempts/attempt-counts.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { createGuardedAgent } from '../platform/outgoing/connector.ts';
import { createOutboxMetrics } from '../platform/outbox/metrics.ts';
import { createApplications } from './applications/applications.ts';
import type { Applications } from './applications/applications.ts';
import {
  CLIENT_CHANGE_METRICS,
  createClientChangeLag,
  createClientChangeOutbox,
} from './client-changes/client-change-outbox.ts';
import type { ClientChangeOutbox } from './client-changes/client-change-outbox.ts';
import { createPublishedClientChanges } from './client-changes/publisher.ts';
import { createConsent } from './authorization/consent.ts';
import type { Consent } from './authorization/consent.ts';
import { resourceServers } from '@tollgate/contracts/resource-servers';
import type { ResourceServer } from '@tollgate/contracts/resource-servers';
import { createRecoveredRevocations } from './clients/operations.ts';
import { createConnections } from './connections/connections.ts';
import type { Connections } from './connections/connections.ts';
import { createFindByDocument } from './registrations/documents.ts';
import type { FindByDocument } from './registrations/documents.ts';
import { createReadDocument } from './registrations/read-document.ts';
import { createRegisterClient } from './registrations/register.ts';
import type { RegisterClient } from './registrations/register.ts';
import { createTokens } from './tokens/tokens.ts';
import type { Tokens } from './tokens/tokens.ts';

/** Applications, their tokens, and who knows of their changes: auth, and every cache of introspections. */
export function openAccess(
  { config, pools, query, transact, redis, logger, registry }: Platform,
  { counts }: { counts: AttemptCounts },
): {
  /** Of Bearer tokens. */
  introspect: Introspector['introspect'];
  needs: {
    applications: Applications;
    tokens: Tokens;
    connections: Connections;
    consent: Consent;
    registerClient: RegisterClient;
    deliver: ClientChangeOutbox['deliver'];
    logger: Logger;
    recoveredRevocations: Counter;
  };
  /** What `GET /oauth2/authorize` answers with. */
  authorization: {
    issuer: string;
    resources: ReadonlyMap<string, ResourceServer>;
    consentUrl: string;
    findByDocument: FindByDocument;
  };
  workers: Worker[];
  close: () => Promise<void>;
} {
  const auth = createPrivateApi({
    baseUrl: config.AUTH_PRIVATE_URL,
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    plainHttp: config.PLAIN_HTTP === 'on',
    traceFields: currentTraceFields,
    onConnected: observeCertificates(registry)('auth', config.AUTH_PRIVATE_URL),
  });
  const { introspect, channel } = openIntrospection({ config, auth, logger });
  const followed = followChannels({
    url: config.REDIS_URL,
    tls: redisTls(config),
    alongside: redis,
    channels: [channel],
    logger,
  });
  const outbox = createClientChangeOutbox({
    query: createQuery(pools.revocations),
    auth,
    redis,
    deliveryTimeoutMs: config.PRIVATE_API_TIMEOUT_MS,
    logger,
    metrics: createOutboxMetrics(registry, CLIENT_CHANGE_METRICS),
    observeLag: createClientChangeLag(registry),
    published: createPublishedClientChanges(registry),
  });
  const { deliver } = outbox;
  const applications = createApplications({
    transact,
    query,
    deliver,
    peppers: config.CLIENT_SECRET_PEPPERS,
    maxApplicationsPerAccount: config.MAX_APPLICATIONS_PER_ACCOUNT,
  });
  const tokens = createTokens({
    transact,
    query,
    deliver,
    tokenPrefix: config.TOKEN_PREFIX,
    sealingKeys: config.TOKEN_SEALING_KEYS,
    maxTokensPerApplication: config.MAX_MANUAL_TOKENS_PER_APPLICATION,
  });
  const recoveredRevocations = createRecoveredRevocations(registry);
  const issuer = config.ISSUER_URL ?? new URL(config.AUTH_URL ?? config.PUBLIC_URL).origin;
  const connections = createConnections({
    transact,
    query,
    deliver,
    lifetimes: {
      refreshTokenIdleSec: config.REFRESH_TOKEN_IDLE_TIMEOUT_SEC,
      connectionSec: config.CONNECTION_LIFETIME_SEC,
    },
  });
  const consent = createConsent({
    transact,
    query,
    issuer,
    codePrefix: codePrefix(config.TOKEN_PREFIX),
    codeLifetimeSec: config.AUTHORIZATION_CODE_LIFETIME_SEC,
  });
  const documents = createGuardedAgent({
    connectTimeoutMs: config.WEBHOOK_CONNECT_TIMEOUT_MS,
    allowsPrivateAddresses: () => config.WEBHOOK_ALLOW_PRIVATE_ADDRESSES,
    dnsServers: config.WEBHOOK_DNS_SERVERS,
  });
  return {
    introspect,
    needs: {
      applications,
      tokens,
      connections,
      consent,
      registerClient: createRegisterClient({ transact, counts }),
      deliver,
      logger,
      recoveredRevocations,
    },
    authorization: {
      issuer,
      resources: resourceServers(config.STREAMING_URL ?? config.PUBLIC_URL),
      consentUrl: new URL('/user/connect', config.PUBLIC_URL).href,
      findByDocument: createFindByDocument({
        query,
        transact,
        counts,
        hosts: config.CIMD_HOSTS,
        readDocument: createReadDocument(documents),
        logger,
      }),
    },
    workers: [outbox],
    close: async () => {
      await Promise.all([auth.close(), documents.close()]);
      followed.close();
    },
  };
}
