import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { ownerAccess } from '../access/applications/access.ts';
import { activityEndpoint } from '../platform/audit/own/endpoint.ts';
import type { Query } from '../platform/database/query.ts';

/** An account's own records, and its end. */
export function accountRoutes({ usageQuery }: { usageQuery: Query }, session: RequestHandler): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router
    .route('/activity')
    .get(session, activityEndpoint(usageQuery, ownerAccess.accountOf))
    .all(methodNotAllowed('GET', 'HEAD'));
  return router;
}
