import { checkRedis } from '@tollgate/server/redis-check';
import { LRUCache } from 'lru-cache';
import type { Registry } from 'prom-client';
import type { StrictTransportSecurity } from '@tollgate/config/settings';
import type { Logger } from '@tollgate/log';
import type { AccessLog } from '@tollgate/log/access-log';
import { createRequestLog, requestLog } from '@tollgate/log/request-log';
import { createServiceAuthentication, requireServiceCredential } from '@tollgate/http/private-api-credential';
import type { ServiceCredential } from '@tollgate/http/private-api-credential';
import {
  createProblemAnswer,
  methodNotAllowed,
  notFound,
  problemHandler,
} from '@tollgate/http/error-handler';
import type { AddressOf } from '@tollgate/http/error-handler';
import type { RedisConnection } from '@tollgate/redis';
import { bareApp } from '@tollgate/server/bare-app';
import { operationsRouter } from '@tollgate/server/health';
import { createHttpMetrics } from '@tollgate/server/metrics';
import type { CallerOf } from './abuse/caller.ts';
import { createCallerLimit } from './abuse/caller-limit.ts';
import type { AuthenticateClient } from './client/authenticator.ts';
import type { ClientDirectory } from './client/directory.ts';
import { directRoutes } from './http/direct-routes.ts';
import type { Handlers } from './http/direct-routes.ts';
import { createFormReader } from './http/form-reader.ts';
import { headersOf, jsonEndpoint } from './http/json-endpoint.ts';
import { jsonProtection } from './http/json-protection.ts';
import { introspectionEndpoint } from './endpoints/introspection/introspection-endpoint.ts';
import { metadataEndpoint } from './endpoints/metadata/metadata-endpoint.ts';
import type { Metrics } from './metrics.ts';
import { noStore } from './oauth/no-store.ts';
import { createOAuthErrorAnswer, oauthErrorHandler } from './oauth/oauth-error-handler.ts';
import { revocationEndpoint } from './endpoints/revocation/revocation-endpoint.ts';
import {
  readClientChange,
  clientChangesEndpoint,
} from './endpoints/client-changes/client-changes-endpoint.ts';
import { createGrant } from './endpoints/token/grant.ts';
import { tokenEndpoint } from './endpoints/token/token-endpoint.ts';
import type { FindLiveToken } from './token/live-token.ts';
import type { RevokeToken } from './token/revoke-token.ts';
import type { TokenIssuing } from './token/token-issuing.ts';

type CommonParts = {
  logger: Logger;
  registry: Registry;
  metrics: Metrics;
  tokenPrefix: string;
  maxBodyBytes: number;
  addressOf: AddressOf;
};

type PublicParts = CommonParts & {
  accessLog: AccessLog | null;
  strictTransportSecurity: StrictTransportSecurity;
  callerOf: CallerOf;
  authenticate: AuthenticateClient;
  issuing: TokenIssuing;
  issuer: string | undefined;
  revokeToken: RevokeToken;
  revocationsPerClientPerSec: number;
};

const COUNTED_CLIENTS_MAX = 10_000;

type PrivateParts = CommonParts & {
  clients: Pick<ClientDirectory, 'change'>;
  findLiveToken: FindLiveToken;
  redis: Pick<RedisConnection, 'del' | 'isCluster'>;
  serviceCredentials: readonly ServiceCredential[];
  draining: () => boolean;
  restoring: () => boolean;
  introspectionsPerCallerPerSec: number;
};

export function createPublicApp(parts: PublicParts): Handlers {
  const { logger, registry, metrics, callerOf, authenticate, issuing, revokeToken, tokenPrefix } = parts;
  const readForm = createFormReader(parts.maxBodyBytes);
  const answerError = createOAuthErrorAnswer(logger, parts.addressOf, (error) => {
    metrics.tokenRequestsRefused.inc({ error });
  });
  const http = createHttpMetrics(registry, 'public');
  const countRevocation = createCallerLimit({
    perSec: parts.revocationsPerClientPerSec,
    wholeAt: new LRUCache<string, number>({ max: COUNTED_CLIENTS_MAX }),
    onLimited: () => {
      metrics.limited.inc({ limit: 'revocation' });
    },
  });

  const protection = jsonProtection(parts.strictTransportSecurity);
  const token = jsonEndpoint({
    logRequest: createRequestLog(logger),
    accessLog: parts.accessLog,
    observe: http.observer('/oauth2/token'),
    headers: headersOf(protection, noStore),
    answer: tokenEndpoint({
      readForm,
      callerOf,
      authenticate,
      issuing,
      grantAccessToken: createGrant({ issuing, tokenPrefix }),
      onOutcome: (outcome, durationMs) => {
        if (outcome === 'issued') metrics.tokensIssued.inc();
        metrics.tokenRequestDuration(outcome, durationMs);
      },
    }),
    answerError,
  });

  const app = bareApp();
  app.use(requestLog(logger), http.middleware, protection);
  app.route('/oauth2/token').all(noStore, methodNotAllowed('POST'), oauthErrorHandler(answerError));
  app
    .route('/oauth2/revoke')
    .all(noStore)
    .post(revocationEndpoint({ readForm, callerOf, authenticate, countRevocation, revokeToken, tokenPrefix }))
    .all(methodNotAllowed('POST'), oauthErrorHandler(answerError));
  app
    .route('/.well-known/oauth-authorization-server')
    .get(metadataEndpoint(parts.issuer))
    .all(methodNotAllowed('GET', 'HEAD'));
  app.use(notFound, problemHandler(logger, parts.addressOf));
  return directRoutes({ 'POST /oauth2/token': token }, app, parts.maxBodyBytes);
}

export function createPrivateApp(parts: PrivateParts): Handlers {
  const { logger, registry, metrics, findLiveToken, tokenPrefix, redis, serviceCredentials } = parts;
  const { draining, restoring } = parts;
  const http = createHttpMetrics(registry, 'private');
  // Not account: without it auth still introspects, and must not be taken out of service too.
  const checks = { redis: () => checkRedis(redis, (tag) => `auth:never:${tag}`) };

  const introspect = jsonEndpoint({
    // Its data call has a log line with the same request id, and a line takes a tenth of an introspection.
    logRequest: createRequestLog(logger, 'debug'),
    observe: http.observer('/oauth2/introspect'),
    headers: headersOf(noStore),
    answer: introspectionEndpoint({
      authenticateService: createServiceAuthentication(serviceCredentials),
      countIntrospection: createCallerLimit({
        perSec: parts.introspectionsPerCallerPerSec,
        wholeAt: new Map(),
        onLimited: () => {
          metrics.limited.inc({ limit: 'introspection' });
        },
      }),
      readForm: createFormReader(parts.maxBodyBytes),
      findLiveToken,
      tokenPrefix,
      onIntrospected: (outcome, durationMs) => {
        metrics.introspected(outcome);
        metrics.introspectionDuration(outcome, durationMs);
      },
    }),
    answerError: createProblemAnswer(logger, parts.addressOf),
  });

  const app = bareApp();
  app.use(operationsRouter({ checks, registry, draining, restoring }), requestLog(logger), http.middleware);
  app
    .route('/oauth2/introspect')
    .all(requireServiceCredential(serviceCredentials), noStore, methodNotAllowed('POST'));
  app
    .route('/private/client-changes')
    .all(requireServiceCredential(serviceCredentials))
    .post(readClientChange, clientChangesEndpoint(parts.clients))
    .all(methodNotAllowed('POST'));
  app.use(notFound, problemHandler(logger, parts.addressOf));
  return directRoutes({ 'POST /oauth2/introspect': introspect }, app, parts.maxBodyBytes);
}
