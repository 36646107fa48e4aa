import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { ownerAccess } from '../access/applications/access.ts';
import type { Query } from '../platform/database/query.ts';
import { refusalCountsEndpoint, refusalListEndpoint } from '../refusals/console/endpoints.ts';

/** `usageQuery` has its own pool with a longer timeout. */
export function refusalRoutes({ usageQuery }: { usageQuery: Query }, session: RequestHandler): Router {
  const { accountOf } = ownerAccess;
  const router = Router({ strict: true, caseSensitive: true });
  router.use('/refusals', session);
  router
    .route('/refusals')
    .get(refusalListEndpoint(usageQuery, accountOf))
    .all(methodNotAllowed('GET', 'HEAD'));
  router
    .route('/refusals/counts')
    .get(refusalCountsEndpoint(usageQuery, accountOf))
    .all(methodNotAllowed('GET', 'HEAD'));
  return router;
}
