import { checkRedis } from '@tollgate/server/redis-check';
import { LRUCache } from 'lru-cache';
import type { Registry } from 'prom-client';
import type { StrictTransportSecurity } from '@tollgate/config/settings';
import type { Logger } from '@tollgate/log';
import type { AccessLog } from '@tollgate/log/access-log';
import { createRequestLog, requestLog } from '@tollgate/log/request-log';
import { createServiceAuthentication, requireServiceCredential } from '@tollgate/http/private-api-credential';
import type { ServiceCredential } from '@tollgate/http/private-api-credential';
import { createProblemAnswer, notFound, problemHandler } from '@tollgate/http/error-handler';
import type { AddressOf } from '@tollgate/http/error-handler';
import type { RedisConnection } from '@tollgate/redis';
import { bareApp } from '@tollgate/server/bare-app';
import { serve } from '@tollgate/operation/serve';
import { probes } from '@tollgate/server/health';
import { createHttpMetrics } from '@tollgate/server/metrics';
import type { CallerOf } from './abuse/caller.ts';
import { createCallerLimit } from './abuse/caller-limit.ts';
import type { AuthenticateClient } from './client/authenticator.ts';
import type { ClientDirectory } from './client/directory.ts';
import { directRoutes } from './http/direct-routes.ts';
import type { Handlers } from './http/direct-routes.ts';
import { direct, headersOf } from './http/direct.ts';
import { createFormReader } from './http/form-reader.ts';
import { jsonProtection } from './http/json-protection.ts';
import { PUBLIC_API, SERVICE_API } from './api.ts';
import { createClientCredentialsGrant } from './endpoints/token/grants/client-credentials.ts';
import { introspectAccessToken } from './endpoints/introspection/operation.ts';
import type { IntrospectionOutcome } from './endpoints/introspection/operation.ts';
import { issueAccessToken } from './endpoints/token/operation.ts';
import type { Metrics } from './metrics.ts';
import { noStore } from './oauth/no-store.ts';
import { createOAuthErrorAnswer, oauthErrorCode, oauthErrorHandler } from './oauth/oauth-error-handler.ts';
import type { FindLiveToken } from './token/live-token.ts';
import type { RevokeToken } from './token/revoke-token.ts';
import type { TokenIssuing } from './token/token-issuing.ts';

type CommonParts = {
  logger: Logger;
  registry: Registry;
  metrics: Metrics;
  tokenPrefix: string;
  maxBodyBytes: number;
  checkAnswers: boolean;
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
  const { logger, registry, metrics, issuing, tokenPrefix, checkAnswers } = parts;
  const readForm = createFormReader(parts.maxBodyBytes);
  const answerError = createOAuthErrorAnswer(logger, parts.addressOf, (error) => {
    metrics.tokenRequestsRefused.inc({ error });
  });
  const http = createHttpMetrics(registry, 'public');
  const protection = jsonProtection(parts.strictTransportSecurity);
  const { callerOf, authenticate, revokeToken, issuer } = parts;
  const needs = {
    callerOf,
    authenticate,
    issuing,
    grants: [createClientCredentialsGrant({ issuing, tokenPrefix })],
    countRevocation: createCallerLimit({
      perSec: parts.revocationsPerClientPerSec,
      wholeAt: new LRUCache<string, number>({ max: COUNTED_CLIENTS_MAX }),
      onLimited: () => {
        metrics.limited.inc({ limit: 'revocation' });
      },
    }),
    revokeToken,
    tokenPrefix,
    issuer,
  };
  const token = direct(issueAccessToken, {
    needs,
    byOf: () => undefined,
    readForm,
    checkAnswers,
    logRequest: createRequestLog(logger),
    accessLog: parts.accessLog,
    observe: http.observer(issueAccessToken.path),
    onEnd: (durationMs, thrown) => {
      if (thrown === undefined) metrics.tokensIssued.inc();
      metrics.tokenRequestDuration(
        thrown === undefined ? 'issued' : oauthErrorCode(thrown.error),
        durationMs,
      );
    },
    headers: headersOf(protection, noStore),
    answerError,
  });

  const app = bareApp();
  app.use(requestLog(logger), http.middleware, protection);
  app.use('/oauth2', noStore);
  serve(app, PUBLIC_API, {
    needs,
    guards: { client: [] },
    readForm,
    answerError: oauthErrorHandler(answerError),
    checkAnswers,
  });
  app.use(notFound, problemHandler(logger, parts.addressOf));
  return directRoutes([token], app, parts.maxBodyBytes);
}

/** Which ask for a credential whatever the method. */
const SERVICE_PATHS = SERVICE_API.flatMap(({ operations }) => operations.map(({ path }) => path));

export function createPrivateApp(parts: PrivateParts): Handlers {
  const { logger, registry, metrics, clients, findLiveToken, tokenPrefix, redis, checkAnswers } = parts;
  const { serviceCredentials, draining, restoring } = parts;
  const http = createHttpMetrics(registry, 'private');
  // Not account: without it auth still introspects, and must not be taken out of service too.
  const checks = { redis: () => checkRedis(redis, (tag) => `auth:never:${tag}`) };
  const readForm = createFormReader(parts.maxBodyBytes);
  const authenticateService = createServiceAuthentication(serviceCredentials);
  const needs = {
    clients,
    countIntrospection: createCallerLimit({
      perSec: parts.introspectionsPerCallerPerSec,
      wholeAt: new Map(),
      onLimited: () => {
        metrics.limited.inc({ limit: 'introspection' });
      },
    }),
    findLiveToken,
    tokenPrefix,
    onIntrospected: (outcome: IntrospectionOutcome, durationMs: number) => {
      metrics.introspected(outcome);
      metrics.introspectionDuration(outcome, durationMs);
    },
  };
  const introspect = direct(introspectAccessToken, {
    needs,
    byOf: (req) => authenticateService(req.headers.authorization),
    readForm,
    checkAnswers,
    // Its data call has a log line with the same request id, and a line takes a tenth of an introspection.
    logRequest: createRequestLog(logger, 'debug'),
    observe: http.observer(introspectAccessToken.path),
    headers: headersOf(noStore),
    answerError: createProblemAnswer(logger, parts.addressOf),
  });

  const app = bareApp();
  app.use(probes({ checks, registry, draining, restoring }), requestLog(logger), http.middleware);
  app.all(SERVICE_PATHS, requireServiceCredential(serviceCredentials), noStore);
  serve(app, SERVICE_API, { needs, guards: { service: [] }, readForm, checkAnswers });
  app.use(notFound, problemHandler(logger, parts.addressOf));
  return directRoutes([introspect], app, parts.maxBodyBytes);
}
