import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { ownerAccess } from '../access/applications/access.ts';
import { ownPeriodsEndpoint } from '../billing/periods/own/endpoint.ts';
import type { Query } from '../platform/database/query.ts';
import { liveUsageEndpoint } from '../usage/live/endpoint.ts';
import type { LiveFeeds } from '../usage/live/feeds.ts';
import { paceEndpoint, usageViewEndpoint } from '../usage/views/endpoints.ts';

/** `usageQuery` has its own pool with a longer timeout. */
export function usageRoutes(
  { usageQuery, liveFeeds }: { usageQuery: Query; liveFeeds: Pick<LiveFeeds, 'open'> },
  session: RequestHandler,
): Router {
  const { accountOf } = ownerAccess;
  const router = Router({ strict: true, caseSensitive: true });
  router.use('/usage', session);
  router
    .route('/periods')
    .get(session, ownPeriodsEndpoint(usageQuery, accountOf))
    .all(methodNotAllowed('GET', 'HEAD'));
  router
    .route('/usage')
    .get(
      usageViewEndpoint(usageQuery, (req, res) => ({ account_id: accountOf(req, res), isOperator: false })),
    )
    .all(methodNotAllowed('GET', 'HEAD'));
  router.route('/usage/pace').get(paceEndpoint(usageQuery, accountOf)).all(methodNotAllowed('GET', 'HEAD'));
  router.route('/usage/live').get(liveUsageEndpoint(liveFeeds)).all(methodNotAllowed('GET', 'HEAD'));
  return router;
}
