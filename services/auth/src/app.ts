import { createServiceAuthentication, requireServiceCredential } from '@tollgate/http/private-api-credential';
import { createProblemAnswer, notFound, problemHandler } from '@tollgate/http/error-handler';
import { createRequestLog, requestLog } from '@tollgate/log/request-log';
import type { NeedsOf } from '@tollgate/operation';
import { serve } from '@tollgate/operation/serve';
import type { ComposeContext } from '@tollgate/server';
import { bareApp } from '@tollgate/server/bare-app';
import { probes } from '@tollgate/server/health';
import type { ReadinessChecks } from '@tollgate/server/health';
import { createHttpMetrics } from '@tollgate/server/metrics';
import { PUBLIC_API, SERVICE_API } from './api.ts';
import type { Config } from './config.ts';
import { createIntrospectionMetrics } from './endpoints/introspection/metrics.ts';
import { introspectAccessToken } from './endpoints/introspection/operation.ts';
import { createTokenMetrics } from './endpoints/token/metrics.ts';
import { issueAccessToken } from './endpoints/token/operation.ts';
import { direct, headersOf } from './http/direct.ts';
import { directRoutes } from './http/direct-routes.ts';
import type { Handlers } from './http/direct-routes.ts';
import { createFormReader } from './http/form-reader.ts';
import { jsonProtection } from './http/json-protection.ts';
import { answerPreflight } from './oauth/any-origin.ts';
import { noStore } from './oauth/no-store.ts';
import { createOAuthErrorAnswer, oauthErrorCode, oauthErrorHandler } from './oauth/oauth-error-handler.ts';

type Context = ComposeContext<Config>;

/** The public listener, for clients. */
export function createPublicApp(
  { config, logger, registry, addressOf, accessLog }: Context,
  needs: NeedsOf<typeof PUBLIC_API>,
): Handlers {
  const { onRefused, onAnswered } = createTokenMetrics(registry);
  const readForm = createFormReader(config.MAX_BODY_BYTES);
  const answerError = createOAuthErrorAnswer(logger, addressOf, onRefused);
  const http = createHttpMetrics(registry, 'public');
  const protection = jsonProtection(config.STRICT_TRANSPORT_SECURITY);
  const checkAnswers = config.CHECK_ANSWERS;
  const token = direct(issueAccessToken, {
    needs,
    byOf: () => undefined,
    readForm,
    checkAnswers,
    logRequest: createRequestLog(logger),
    accessLog,
    observe: http.observer(issueAccessToken.path),
    onEnd: (durationMs, thrown) => {
      onAnswered(thrown === undefined ? 'issued' : oauthErrorCode(thrown.error), durationMs);
    },
    headers: headersOf(protection, noStore),
    answerError,
  });

  const app = bareApp();
  app.use(requestLog(logger), http.middleware, protection);
  app.use('/oauth2', noStore);
  app.use(PUBLIC_PATHS, answerPreflight);
  serve(app, PUBLIC_API, {
    needs,
    guards: { client: [] },
    readForm,
    answerError: oauthErrorHandler(answerError),
    checkAnswers,
  });
  app.use(notFound, problemHandler(logger, addressOf));
  return directRoutes([token], app, config.MAX_BODY_BYTES);
}

const PUBLIC_PATHS = PUBLIC_API.flatMap(({ operations }) => operations.map(({ path }) => path));

/** Which ask for a credential whatever the method. */
const SERVICE_PATHS = SERVICE_API.flatMap(({ operations }) => operations.map(({ path }) => path));

/** The private listener, for other services, probes and Prometheus. */
export function createPrivateApp(
  { config, logger, registry, draining, addressOf }: Context,
  needsOfDomains: Omit<NeedsOf<typeof SERVICE_API>, 'onIntrospected'>,
  readiness: { checks: ReadinessChecks; restoring: () => boolean },
): Handlers {
  const needs = { ...needsOfDomains, ...createIntrospectionMetrics(registry) };
  const readForm = createFormReader(config.MAX_BODY_BYTES);
  const http = createHttpMetrics(registry, 'private');
  const checkAnswers = config.CHECK_ANSWERS;
  const authenticateService = createServiceAuthentication(config.SERVICE_CREDENTIALS);
  const introspect = direct(introspectAccessToken, {
    needs,
    byOf: (req) => authenticateService(req.headers.authorization),
    readForm,
    checkAnswers,
    // Its data call has a log line with the same request id, and a line takes a tenth of an introspection.
    logRequest: createRequestLog(logger, 'debug'),
    observe: http.observer(introspectAccessToken.path),
    headers: headersOf(noStore),
    answerError: createProblemAnswer(logger, addressOf),
  });

  const app = bareApp();
  app.use(probes({ ...readiness, registry, draining }), requestLog(logger), http.middleware);
  app.all(SERVICE_PATHS, requireServiceCredential(config.SERVICE_CREDENTIALS), noStore);
  serve(app, SERVICE_API, { needs, guards: { service: [] }, readForm, checkAnswers });
  app.use(notFound, problemHandler(logger, addressOf));
  return directRoutes([introspect], app, config.MAX_BODY_BYTES);
}
