import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { readJsonBody } from '../http/input/json-body.ts';
import { requireConfirmed } from '../identity/two-factor/confirmation.ts';
import {
  addPasskeyEndpoint,
  confirmTotpEndpoint,
  passkeyOptionsEndpoint,
  removePasskeyEndpoint,
  removeTotpEndpoint,
  renamePasskeyEndpoint,
  renewCodesEndpoint,
  setUpTotpEndpoint,
  twoFactorEndpoint,
} from '../identity/two-factor/endpoints.ts';
import {
  confirmEndpoint,
  confirmOptionsEndpoint,
  confirmWithPasskeyEndpoint,
  confirmWithRecoveryCodeEndpoint,
  confirmWithTotpEndpoint,
  passkeyStepEndpoint,
  passkeyStepOptionsEndpoint,
  recoveryStepEndpoint,
  totpStepEndpoint,
  waysToSignInEndpoint,
} from '../identity/two-factor/sign-in/endpoints.ts';
import type { TwoFactorParts } from '../identity/two-factor/two-factor.ts';

/** The second step of a sign-in needs no session; a passkey's or app's enrolment needs a confirmed one. */
export function twoFactorRoutes(parts: TwoFactorParts, session: RequestHandler): Router {
  const router = Router({ strict: true, caseSensitive: true });
  signInRoutes(router, parts, session);
  router.use('/two-factor', session);
  router.route('/two-factor').get(twoFactorEndpoint(parts)).all(methodNotAllowed('GET', 'HEAD'));
  const totp = '/two-factor/totp';
  router
    .route(totp)
    .post(requireConfirmed, setUpTotpEndpoint(parts))
    .delete(requireConfirmed, removeTotpEndpoint(parts))
    .all(methodNotAllowed('POST', 'DELETE'));
  post(router, `${totp}/confirm`, readJsonBody, confirmTotpEndpoint(parts));
  const passkeys = '/two-factor/passkeys';
  post(router, passkeys, readJsonBody, addPasskeyEndpoint(parts));
  post(router, `${passkeys}/options`, requireConfirmed, passkeyOptionsEndpoint(parts));
  router
    .route(`${passkeys}/:passkey_id`)
    .patch(readJsonBody, renamePasskeyEndpoint(parts))
    .delete(requireConfirmed, removePasskeyEndpoint(parts))
    .all(methodNotAllowed('PATCH', 'DELETE'));
  post(router, '/two-factor/recovery-codes', requireConfirmed, renewCodesEndpoint(parts));
  return router;
}

function signInRoutes(router: Router, parts: TwoFactorParts, session: RequestHandler): void {
  const body = readJsonBody;
  router.route('/sign-in').get(waysToSignInEndpoint(parts)).all(methodNotAllowed('GET', 'HEAD'));
  post(router, '/session/totp', body, totpStepEndpoint(parts));
  post(router, '/session/recovery-code', body, recoveryStepEndpoint(parts));
  post(router, '/session/passkey', body, passkeyStepEndpoint(parts));
  post(router, '/session/passkey/options', body, passkeyStepOptionsEndpoint(parts));
  post(router, '/session/confirm', session, body, confirmEndpoint(parts));
  post(router, '/session/confirm/totp', session, body, confirmWithTotpEndpoint(parts));
  post(router, '/session/confirm/recovery-code', session, body, confirmWithRecoveryCodeEndpoint(parts));
  post(router, '/session/confirm/passkey', session, body, confirmWithPasskeyEndpoint(parts));
  post(router, '/session/confirm/passkey/options', session, confirmOptionsEndpoint(parts));
}

function post(router: Router, path: string, ...handlers: RequestHandler[]): void {
  router
    .route(path)
    .post(...handlers)
    .all(methodNotAllowed('POST'));
}
