import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { readJsonBody } from '../http/input/json-body.ts';
import { refuseBlocked } from '../billing/entitlements/refuse-blocked.ts';
import {
  createTeamEndpoint,
  dissolveTeamEndpoint,
  handOverEndpoint,
  leaveTeamEndpoint,
  removeMemberEndpoint,
  renameTeamEndpoint,
  teamEndpoint,
} from '../teams/console/endpoints.ts';
import {
  acceptByTokenEndpoint,
  acceptEndpoint,
  declineByTokenEndpoint,
  declineEndpoint,
  invitationsEndpoint,
  inviteEndpoint,
  lookUpInvitationEndpoint,
  withdrawEndpoint,
} from '../teams/console/invitation-endpoints.ts';
import type { InvitationParts } from '../teams/console/invitation-endpoints.ts';

/** A mail's token is enough for an invitation; it needs no session. */
export function teamRoutes(parts: InvitationParts, session: RequestHandler): Router {
  const body = readJsonBody;
  const router = Router({ strict: true, caseSensitive: true });
  router
    .route('/invitations/look-up')
    .post(body, lookUpInvitationEndpoint(parts))
    .all(methodNotAllowed('POST'));
  router
    .route('/invitations/decline')
    .post(body, declineByTokenEndpoint(parts))
    .all(methodNotAllowed('POST'));

  router.use(['/team', '/invitations'], session);
  router.route('/invitations').get(invitationsEndpoint(parts)).all(methodNotAllowed('GET', 'HEAD'));
  router.route('/invitations/accept').post(body, acceptByTokenEndpoint(parts)).all(methodNotAllowed('POST'));
  router
    .route('/invitations/:invitation_id/accept')
    .post(acceptEndpoint(parts))
    .all(methodNotAllowed('POST'));
  router
    .route('/invitations/:invitation_id/decline')
    .post(declineEndpoint(parts))
    .all(methodNotAllowed('POST'));
  router
    .route('/team')
    .get(teamEndpoint(parts))
    .post(body, createTeamEndpoint(parts))
    .patch(body, renameTeamEndpoint(parts))
    .delete(dissolveTeamEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD', 'POST', 'PATCH', 'DELETE'));
  router
    .route('/team/invitations')
    .post(refuseBlocked(parts.query), body, inviteEndpoint(parts))
    .all(methodNotAllowed('POST'));
  router
    .route('/team/invitations/:invitation_id')
    .delete(withdrawEndpoint(parts))
    .all(methodNotAllowed('DELETE'));
  router
    .route('/team/members/:account_id')
    .delete(removeMemberEndpoint(parts))
    .all(methodNotAllowed('DELETE'));
  router.route('/team/leave').post(leaveTeamEndpoint(parts)).all(methodNotAllowed('POST'));
  router.route('/team/hand-over').post(body, handOverEndpoint(parts)).all(methodNotAllowed('POST'));
  return router;
}
