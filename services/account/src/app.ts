import type { RequestListener } from 'node:http';
import { resolve } from 'node:path';
import { Router } from 'express';
import type { Express, RequestHandler } from 'express';
import { requireServiceCredential } from '@tollgate/http/private-api-credential';
import { methodNotAllowed, notFound, problemHandler } from '@tollgate/http/error-handler';
import { Problem } from '@tollgate/http/problem';
import type { Introspector } from '@tollgate/introspection';
import { requestLog } from '@tollgate/log/request-log';
import type { Chapter, NeedsOf } from '@tollgate/operation';
import { roomsOf, serve } from '@tollgate/operation/serve';
import type { ComposeContext } from '@tollgate/server';
import { bareApp } from '@tollgate/server/bare-app';
import { probes } from '@tollgate/server/health';
import type { ReadinessChecks } from '@tollgate/server/health';
import { httpMetrics } from '@tollgate/server/metrics';
import { requireToken } from './access/authentication/bearer.ts';
import { documentText } from './api-document/operations.ts';
import { CUSTOMER_VIEW } from './api/customer-view.ts';
import type { CustomerViewNeeds } from './api/customer-view.ts';
import { OPERATOR_API } from './api/operator.ts';
import type { OperatorNeeds } from './api/operator.ts';
import { OPERATOR_CONSOLE_API } from './api/operator-console.ts';
import type { OperatorConsoleNeeds } from './api/operator-console.ts';
import { OWNER_API, createApiDocument } from './api/owner.ts';
import type { OwnerNeeds } from './api/owner.ts';
import { REPORTER_API, SERVICE_API } from './api/services.ts';
import type { ServicesNeeds } from './api/services.ts';
import type { Config } from './config.ts';
import { browserProtection } from './http/browser-protection.ts';
import { noteCallerAddress } from './http/caller-address.ts';
import { isAmbiguousPath } from './http/literal-path.ts';
import { noStore } from './http/no-store.ts';
import { admitOperator, requireOperator } from './platform/audit/private-callers.ts';
import { backChannelLogout } from './operators/oidc/back-channel-logout.ts';
import { operatorsBook } from './operators/book.ts';
import { operatorPage } from './operators/page.ts';
import { oneKindOfCredential, requireOperatorSession } from './operators/require-operator-session.ts';
import { VIEW_PATH, refuseChanges, refuseOthers } from './operators/view-as/read-only.ts';
import { SCIM_PATH, scimRouter } from './scim/router.ts';
import type { ScimNeeds } from './scim/router.ts';
import { noteSignedIn, requireSession } from './identity/sessions/require-session.ts';
import { sameOriginOnly } from './identity/sessions/same-origin.ts';

type Context = ComposeContext<Config>;

/** The public listener, for account holders and their programs. */
export function createPublicApp(
  { config, logger, registry, trusts, addressOf, accessLog }: Context,
  needs: Omit<OwnerNeeds, 'apiDocument'> & ScimNeeds,
  parts: {
    introspect: Introspector['introspect'];
    /** Null without payments. */
    paymentEvents: RequestHandler | null;
    /** `GET /oauth2/authorize`. */
    authorization: RequestHandler;
    pages: RequestHandler[];
  },
): Express {
  const { introspect, paymentEvents, authorization, pages } = parts;
  // For X-Forwarded-Host (same-origin.ts).
  const app = bareApp(trusts);
  app.use(
    requestLog(logger),
    httpMetrics(registry, 'public'),
    browserProtection(config.STRICT_TRANSPORT_SECURITY),
  );
  app.use(noteCallerAddress(addressOf));
  if (accessLog !== null) app.use(noteSignedIn(accessLog));
  const publicUrl = config.PUBLIC_URL;
  // Stripe's, not a customer's: outside of the API and its document.
  if (paymentEvents !== null) app.post('/payments/stripe/events', paymentEvents);
  // Described by its own endpoints, to directories.
  app.use(SCIM_PATH, scimRouter(needs, logger, addressOf));
  app.use('/api/console', noStore, sameOriginOnly(publicUrl));
  const makeDocument = () => createApiDocument({ serverUrl: publicUrl, sessionCookie: needs.cookie.name });
  serve(app, OWNER_API, {
    needs: { ...needs, apiDocument: documentText(makeDocument, publicUrl) },
    guards: {
      token: [requireToken(introspect, accessLog)],
      session: [requireSession(needs)],
      'closing-session': [requireSession({ ...needs, whileClosed: true })],
    },
    checkAnswers: config.CHECK_ANSWERS,
  });
  app.route('/oauth2/authorize').get(authorization).all(methodNotAllowed('GET', 'HEAD'));
  app.use(pages);
  app.use(notFound, problemHandler(logger, addressOf));
  return app;
}

/** The private listener, for other services, probes and Prometheus. */
export function createPrivateApp(
  { config, logger, registry, draining, addressOf }: Context,
  needs: OperatorNeeds & OperatorConsoleNeeds & CustomerViewNeeds & ServicesNeeds,
  checks: ReadinessChecks,
): RequestListener {
  const app = bareApp();
  app.use(probes({ checks, registry, draining }), requestLog(logger), httpMetrics(registry, 'private'));
  const checkAnswers = config.CHECK_ANSWERS;
  app.use(createOperatorConsole({ config, logger, addressOf }, needs));
  // Separate credentials: none is accepted in place of another.
  const operator = [
    oneKindOfCredential(needs),
    ...requireOperator(config.OPERATOR_CREDENTIALS, config.OPERATOR_CREDENTIAL_ROLES),
    noStore,
  ];
  const reporter = [requireServiceCredential(config.USAGE_REPORTER_CREDENTIALS), noStore];
  const service = [requireServiceCredential(config.SERVICE_CREDENTIALS)];
  serveBelow(app, roomsOf(OPERATOR_API), { chapters: OPERATOR_API, needs, guards: operator, checkAnswers });
  serveBelow(app, roomsOf(REPORTER_API), { chapters: REPORTER_API, needs, guards: reporter, checkAnswers });
  serveBelow(app, ['/private'], { chapters: SERVICE_API, needs, guards: service, checkAnswers });
  app.use(notFound, problemHandler(logger, addressOf));
  return app;
}

/** For people among the operators, below /operator; the only part of the private listener that an Ingress passes on. */
function createOperatorConsole(
  { config, logger, addressOf }: Pick<Context, 'config' | 'logger' | 'addressOf'>,
  needs: OperatorConsoleNeeds & CustomerViewNeeds,
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use('/operator', (req, _res, next) => {
    if (isAmbiguousPath(req.originalUrl.split('?', 1)[0] ?? '')) throw new Problem('not_found');
    next();
  });
  router.use(
    '/operator',
    browserProtection(config.STRICT_TRANSPORT_SECURITY),
    noStore,
    noteCallerAddress(addressOf),
    oneKindOfCredential(needs),
  );
  const url = config.OPERATORS_URL;
  // Without an address there is no origin to compare with, and nothing to change.
  if (url !== undefined) router.use('/operator/api', sameOriginOnly(url, { trustsHost: false }));
  const session = requireOperatorSession(needs);
  const served = {
    needs,
    guards: { operator: [session], 'operator-session': [session] },
    admitOperator,
    checkAnswers: config.CHECK_ANSWERS,
  };
  if (url !== undefined) {
    router.use(VIEW_PATH, sameOriginOnly(url, { trustsHost: false, alsoReads: true }));
  }
  router.use(VIEW_PATH, session, refuseChanges);
  serve(router, OPERATOR_CONSOLE_API, served);
  serve(router, CUSTOMER_VIEW, served);
  router.use(VIEW_PATH, refuseOthers);
  router.use('/operator/api', session, notFound);
  const provider = needs.identityProvider;
  if (provider !== undefined) {
    router.post('/operator/oidc/back-channel-logout', backChannelLogout(provider, needs, logger));
  }
  const productName = config.PRODUCT_NAME;
  router.use(operatorsBook(resolve(config.DOCS_DIR), { productName, session }));
  router.use(operatorPage(resolve(config.CONSOLE_DIR), { productName }));
  return router;
}

/** All that a process without the API answers, on the private listener. */
export function createWorkersApp(
  { logger, registry, draining, addressOf }: Context,
  checks: ReadinessChecks,
): RequestListener {
  const app = bareApp();
  app.use(probes({ checks, registry, draining }), notFound, problemHandler(logger, addressOf));
  return app;
}

/** Credentials of other callers are refused at every path below `rooms`, whether it exists or not. */
function serveBelow<const Chapters extends readonly Chapter[]>(
  app: Express,
  rooms: string[],
  options: {
    chapters: Chapters;
    needs: NeedsOf<Chapters>;
    guards: RequestHandler[];
    checkAnswers: boolean;
  },
): void {
  const { chapters, needs, guards, checkAnswers } = options;
  app.use(rooms, guards);
  const ofCallers = { operator: [], reporter: [], service: [] };
  serve(app, chapters, { needs, guards: ofCallers, admitOperator, checkAnswers });
  app.use(rooms, notFound);
}
