import { Router } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import type { Applications } from '../access/applications/applications.ts';
import { noStore } from '../http/no-store.ts';
import { accountRoutes } from './console-account-routes.ts';
import { alertRoutes } from './console-alert-routes.ts';
import { applicationRoutes } from './console-application-routes.ts';
import { teamRoutes } from './console-team-routes.ts';
import { planRoutes } from './console-plan-routes.ts';
import { refusalRoutes } from './console-refusal-routes.ts';
import { usageRoutes } from './console-usage-routes.ts';
import type { SelfService } from '../self-service/settings.ts';
import type { Query } from '../platform/database/query.ts';
import { addressesEndpoint } from '../console/addresses/endpoint.ts';
import type { PublicAddresses } from '../console/addresses/endpoint.ts';
import { twoFactorRoutes } from './console-two-factor-routes.ts';
import type { TwoFactorParts } from '../identity/two-factor/two-factor.ts';
import { readJsonBody } from '../http/input/json-body.ts';
import {
  changeEmailEndpoint,
  changePasswordEndpoint,
  changeProfileEndpoint,
  requestResetEndpoint,
  requireSignUpEnabled,
  resendEndpoint,
  resetPasswordEndpoint,
  signUpEndpoint,
  signUpSettingEndpoint,
  verifyEmailEndpoint,
} from '../identity/people/endpoints.ts';
import type { DeletionParts } from '../lifecycle/deletion/deletion.ts';
import type { ExportParts } from '../lifecycle/export/endpoint.ts';
import {
  endSessionEndpoint,
  listSessionsEndpoint,
  sessionEndpoint,
  signInEndpoint,
  signOutEndpoint,
  signOutEverywhereEndpoint,
} from '../identity/sessions/endpoints.ts';
import { requireSession } from '../identity/sessions/require-session.ts';
import { sameOriginOnly } from '../identity/sessions/same-origin.ts';
import type { Tokens } from '../access/tokens/tokens.ts';
import type { LiveFeeds } from '../usage/live/feeds.ts';
import type { WebhookParts } from '../notifications/webhooks/endpoints.ts';

export type ConsoleParts = DeletionParts &
  ExportParts &
  TwoFactorParts &
  Pick<WebhookParts, 'webhookSettings' | 'wakeWebhooks'> & {
    publicUrl: string;
    addresses: PublicAddresses;
    selfService: SelfService;
    signUpEnabled: boolean;
    applications: Applications;
    tokens: Tokens;
    usageQuery: Query;
    liveFeeds: Pick<LiveFeeds, 'open'>;
  };

/** The console's API, at `/api/console`. Routes without a session come first. */
export function consoleRoutes(parts: ConsoleParts): Router {
  const { publicUrl, signUpEnabled } = parts;
  const session = requireSession(parts);
  const sessionWhileDeleting = requireSession({ ...parts, whileDeleting: true });
  const body = readJsonBody;
  const router = Router({ strict: true, caseSensitive: true });
  router.use(noStore, sameOriginOnly(publicUrl));

  router.route('/addresses').get(addressesEndpoint(parts.addresses)).all(methodNotAllowed('GET', 'HEAD'));
  router
    .route('/sign-up')
    .get(signUpSettingEndpoint(signUpEnabled))
    .post(requireSignUpEnabled(signUpEnabled), body, signUpEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route('/sign-up/resend')
    .post(requireSignUpEnabled(signUpEnabled), body, resendEndpoint(parts))
    .all(methodNotAllowed('POST'));
  router.route('/verify-email').post(body, verifyEmailEndpoint(parts)).all(methodNotAllowed('POST'));
  router.route('/password-reset').post(body, requestResetEndpoint(parts)).all(methodNotAllowed('POST'));
  router
    .route('/password-reset/confirm')
    .post(body, resetPasswordEndpoint(parts))
    .all(methodNotAllowed('POST'));

  router
    .route('/session')
    .post(body, signInEndpoint(parts))
    .get(sessionWhileDeleting, sessionEndpoint)
    .delete(sessionWhileDeleting, signOutEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD', 'POST', 'DELETE'));
  router
    .route('/sessions')
    .get(session, listSessionsEndpoint(parts))
    .delete(session, signOutEverywhereEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD', 'DELETE'));
  router
    .route('/sessions/:session_id')
    .delete(session, endSessionEndpoint(parts))
    .all(methodNotAllowed('DELETE'));
  router.route('/account').patch(session, body, changeProfileEndpoint(parts)).all(methodNotAllowed('PATCH'));
  router
    .route('/account/password')
    .put(session, body, changePasswordEndpoint(parts))
    .all(methodNotAllowed('PUT'));
  router
    .route('/account/email')
    .post(session, body, changeEmailEndpoint(parts))
    .all(methodNotAllowed('POST'));
  router.use(
    accountRoutes(parts, session, sessionWhileDeleting),
    twoFactorRoutes(parts, session),
    applicationRoutes(parts, session),
    teamRoutes(parts, session),
    planRoutes(parts, session),
    usageRoutes(parts, session),
    refusalRoutes(parts, session),
    alertRoutes(parts, session),
  );
  return router;
}
