import express from 'express';
import type { Express } from 'express';
import helmet from 'helmet';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { requestLog } from '@tollgate/log/request-log';
import { requireServiceCredential } from '@tollgate/private-api/credential';
import type { ServiceCredential } from '@tollgate/private-api/credential';
import { methodNotAllowed, notFound, problemHandler } from '@tollgate/problem/express';
import type { Redis } from '@tollgate/redis';
import { operationsRouter } from '@tollgate/server/health';
import { httpMetrics } from '@tollgate/server/metrics';
import { limitIntrospections } from './abuse/introspection-limit.ts';
import type { CountTokenRequest } from './abuse/token-requests.ts';
import type { AuthenticateClient } from './client/authenticator.ts';
import type { ClientDirectory } from './client/directory.ts';
import { introspectionEndpoint } from './introspection-endpoint/introspection-endpoint.ts';
import { metadataEndpoint } from './metadata-endpoint/metadata-endpoint.ts';
import type { Metrics } from './metrics.ts';
import { readFormBody } from './oauth/form-body.ts';
import { noStore } from './oauth/no-store.ts';
import { oauthErrorHandler } from './oauth/oauth-error-handler.ts';
import { revocationEndpoint } from './revocation-endpoint/revocation-endpoint.ts';
import {
  readRevocationEpoch,
  revocationEpochEndpoint,
} from './revocation-epoch-endpoint/revocation-epoch-endpoint.ts';
import { tokenEndpoint } from './token-endpoint/token-endpoint.ts';
import type { FindLiveToken } from './token/live-token.ts';
import type { TokenStore } from './token/store.ts';

type PublicParts = {
  logger: Logger;
  registry: Registry;
  metrics: Metrics;
  authenticate: AuthenticateClient;
  countTokenRequest: CountTokenRequest;
  issuer: string | undefined;
  trustedProxies: readonly string[];
  tokens: TokenStore;
  tokenPrefix: string;
  maxBodyBytes: number;
};

type PrivateParts = Pick<PublicParts, 'logger' | 'registry' | 'metrics' | 'tokenPrefix' | 'maxBodyBytes'> & {
  clients: Pick<ClientDirectory, 'change'>;
  findLiveToken: FindLiveToken;
  redis: Pick<Redis, 'ping'>;
  serviceCredentials: readonly ServiceCredential[];
  draining: () => boolean;
  introspectionsPerCallerPerSec: number;
};

/** The public listener: what OAuth clients call. */
export function createPublicApp(parts: PublicParts): Express {
  const { logger, registry, metrics, authenticate, countTokenRequest, tokens, tokenPrefix, maxBodyBytes } =
    parts;
  const onIssued = () => {
    metrics.tokensIssued.inc();
  };
  const onRefused = (error: string) => {
    metrics.tokenRequestsRefused.inc({ error });
  };

  const app = bareExpress();
  app.set('trust proxy', parts.trustedProxies);
  app.use(requestLog(logger), httpMetrics(registry), helmet());
  app
    .route('/oauth2/token')
    .all(noStore)
    .post(
      readFormBody(maxBodyBytes),
      tokenEndpoint({ authenticate, countTokenRequest, tokens, tokenPrefix, onIssued }),
    )
    .all(methodNotAllowed('POST'), oauthErrorHandler(logger, onRefused));
  app
    .route('/oauth2/revoke')
    .all(noStore)
    .post(readFormBody(maxBodyBytes), revocationEndpoint({ authenticate, tokens, tokenPrefix }))
    .all(methodNotAllowed('POST'), oauthErrorHandler(logger, onRefused));
  app
    .route('/.well-known/oauth-authorization-server')
    .get(metadataEndpoint(parts.issuer))
    .all(methodNotAllowed('GET', 'HEAD'));
  app.use(notFound, problemHandler(logger));
  return app;
}

/** The private listener: what the other services, probes and Prometheus call. */
export function createPrivateApp(parts: PrivateParts): Express {
  const { logger, registry, metrics, findLiveToken, tokenPrefix, maxBodyBytes, redis, draining } = parts;
  const onIntrospected = (outcome: string) => {
    metrics.introspections.inc({ outcome });
  };
  const limited = limitIntrospections({
    perSec: parts.introspectionsPerCallerPerSec,
    onLimited: () => {
      metrics.limited.inc({ limit: 'introspection' });
    },
  });
  // account isn't one of them: without it tokens are introspected all the same, and clients in the cache get
  // theirs. Taking every auth out of service would turn account's outage into everybody's.
  const checks = { redis: () => redis.ping() };

  const app = bareExpress();
  app.use(operationsRouter({ checks, registry, draining }), requestLog(logger));
  app
    .route('/oauth2/introspect')
    .all(requireServiceCredential(parts.serviceCredentials), noStore)
    .post(
      limited,
      readFormBody(maxBodyBytes),
      introspectionEndpoint({ findLiveToken, tokenPrefix, onIntrospected }),
    )
    .all(methodNotAllowed('POST'));
  app
    .route('/private/clients/:client_id/revocation-epoch')
    .all(requireServiceCredential(parts.serviceCredentials))
    .put(readRevocationEpoch, revocationEpochEndpoint(parts.clients))
    .all(methodNotAllowed('PUT'));
  app.use(notFound, problemHandler(logger));
  return app;
}

/** Express without what gives it away, and with paths taken literally. */
function bareExpress(): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
  return app;
}
