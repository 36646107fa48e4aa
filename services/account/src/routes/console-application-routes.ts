import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { ownerAccess } from '../access/applications/access.ts';
import type { Applications } from '../access/applications/applications.ts';
import {
  changeEndpoint,
  createOwnEndpoint,
  deleteEndpoint,
  listOwnEndpoint,
  readEndpoint,
} from '../access/applications/endpoints.ts';
import type { Query } from '../platform/database/query.ts';
import { readJsonBody } from '../http/input/json-body.ts';
import { refuseBlocked } from '../billing/entitlements/refuse-blocked.ts';
import { accountTokenRoutes, secretAndTokenRoutes } from './token-routes.ts';
import type { Tokens } from '../access/tokens/tokens.ts';

/** Blocked accounts cannot create credentials. */
export function applicationRoutes(
  { query, applications, tokens }: { query: Query; applications: Applications; tokens: Tokens },
  session: RequestHandler,
): Router {
  const unblocked = refuseBlocked(query);
  const body = readJsonBody;
  const router = Router({ strict: true, caseSensitive: true });
  const path = '/applications';
  router.use([path, '/tokens', '/temporary-token'], session);
  router
    .route(path)
    .get(listOwnEndpoint(applications))
    .post(unblocked, body, createOwnEndpoint(applications))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route(`${path}/:application_id`)
    .get(readEndpoint(applications, ownerAccess))
    .patch(body, changeEndpoint(applications, ownerAccess))
    .delete(deleteEndpoint(applications, ownerAccess))
    .all(methodNotAllowed('GET', 'HEAD', 'PATCH', 'DELETE'));
  const ownerRequests = { access: ownerAccess, beforeMaking: [unblocked] };
  secretAndTokenRoutes(router, `${path}/:application_id`, { applications, tokens }, ownerRequests);
  accountTokenRoutes(router, '', tokens, ownerRequests);
  return router;
}
