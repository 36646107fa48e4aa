import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { ownerAccess } from '../access/applications/access.ts';
import { readJsonBody } from '../http/input/json-body.ts';
import type { DeletionParts } from '../lifecycle/deletion/deletion.ts';
import {
  cancelDeletionEndpoint,
  deletionEndpoint,
  requestDeletionEndpoint,
} from '../lifecycle/deletion/endpoints.ts';
import { exportEndpoint } from '../lifecycle/export/endpoint.ts';
import type { ExportParts } from '../lifecycle/export/endpoint.ts';
import { requireConfirmed } from '../identity/two-factor/confirmation.ts';
import { activityEndpoint } from '../identity/activity/endpoint.ts';
import type { Query } from '../platform/database/query.ts';

/** An account's own records, and its end, which stays reachable while the account is being deleted. */
export function accountRoutes(
  parts: DeletionParts & ExportParts & { usageQuery: Query },
  session: RequestHandler,
  sessionWhileDeleting: RequestHandler,
): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router
    .route('/activity')
    .get(session, activityEndpoint(parts.usageQuery, ownerAccess.accountOf))
    .all(methodNotAllowed('GET', 'HEAD'));
  router
    .route('/account/export')
    .post(session, requireConfirmed, exportEndpoint(parts))
    .all(methodNotAllowed('POST'));
  router
    .route('/account/deletion')
    .get(sessionWhileDeleting, deletionEndpoint(parts))
    .post(session, readJsonBody, requestDeletionEndpoint(parts))
    .delete(sessionWhileDeleting, cancelDeletionEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD', 'POST', 'DELETE'));
  return router;
}
