import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { refuseBlocked } from '../billing/entitlements/refuse-blocked.ts';
import {
  cancelOwnEndpoint,
  catalogueEndpoint,
  changeOwnPlanEndpoint,
  ownSubscriptionEndpoint,
  ownTeamSlotsEndpoint,
  previewEndpoint,
  requireSelfService,
  resumeOwnEndpoint,
  subscribeEndpoint,
} from '../self-service/endpoints.ts';
import type { SelfServiceParts } from '../self-service/endpoints.ts';
import { readJsonBody } from '../http/input/json-body.ts';

/** Blocked accounts can cancel, and buy nothing. */
export function planRoutes(parts: SelfServiceParts, session: RequestHandler): Router {
  const unblocked = refuseBlocked(parts.query);
  const body = readJsonBody;
  const cancel = requireSelfService(parts, 'cancel');
  const path = '/subscription';
  const router = Router({ strict: true, caseSensitive: true });
  router.use(['/plans', path], session);
  router.route('/plans').get(catalogueEndpoint(parts)).all(methodNotAllowed('GET', 'HEAD'));
  router
    .route(path)
    .get(ownSubscriptionEndpoint(parts))
    .post(requireSelfService(parts, 'subscribe'), unblocked, body, subscribeEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router.route(`${path}/preview`).get(previewEndpoint(parts)).all(methodNotAllowed('GET', 'HEAD'));
  router
    .route(`${path}/change-plan`)
    .post(requireSelfService(parts, 'change'), unblocked, body, changeOwnPlanEndpoint(parts))
    .all(methodNotAllowed('POST'));
  router.route(`${path}/cancel`).post(cancel, cancelOwnEndpoint(parts)).all(methodNotAllowed('POST'));
  router.route(`${path}/resume`).post(cancel, resumeOwnEndpoint(parts)).all(methodNotAllowed('POST'));
  router
    .route(`${path}/team-slots`)
    .put(requireSelfService(parts, 'slots'), unblocked, body, ownTeamSlotsEndpoint(parts))
    .all(methodNotAllowed('PUT'));
  return router;
}
