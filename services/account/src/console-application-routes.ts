import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/problem/express';
import { ownerAccess } from './applications/access.ts';
import type { Applications } from './applications/applications.ts';
import {
  changeEndpoint,
  createOwnEndpoint,
  deleteEndpoint,
  listOwnEndpoint,
  readEndpoint,
} from './applications/endpoints.ts';
import type { Query } from './database/query.ts';
import { readJsonBody } from './input/json-body.ts';
import { refuseBlocked } from './sessions/refuse-blocked.ts';
import { accountTokenRoutes, secretAndTokenRoutes } from './token-routes.ts';
import type { Tokens } from './tokens/tokens.ts';

/** What an account's owner does with applications and tokens; what opens doors is refused to who is blocked. */
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
