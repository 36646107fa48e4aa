import type { IRouter, RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import type { Access } from '../access/applications/access.ts';
import type { Applications } from '../access/applications/applications.ts';
import {
  endPreviousSecretEndpoint,
  revokeEndpoint,
  rotateSecretEndpoint,
} from '../access/applications/endpoints.ts';
import { readJsonBody } from '../http/input/json-body.ts';
import {
  copyTokenEndpoint,
  issueTokenEndpoint,
  revokeTemporaryTokenEndpoint,
  revokeTokenEndpoint,
  temporaryTokenEndEndpoint,
  temporaryTokenEndpoint,
  tokensOfAccountEndpoint,
  tokensOfApplicationEndpoint,
} from '../access/tokens/endpoints.ts';
import type { Tokens } from '../access/tokens/tokens.ts';

/** Which applications are accessible, and what runs before a credential is created. */
export type RequestsOf = { access: Access; beforeMaking: readonly RequestHandler[] };

/** Shared by operators and owners. `path` names the application. */
export function secretAndTokenRoutes(
  router: Pick<IRouter, 'route'>,
  path: string,
  { applications, tokens }: { applications: Applications; tokens: Tokens },
  { access, beforeMaking }: RequestsOf,
): void {
  router.route(`${path}/revoke`).post(revokeEndpoint(applications, access)).all(methodNotAllowed('POST'));
  router
    .route(`${path}/rotate-secret`)
    .post(...beforeMaking, readJsonBody, rotateSecretEndpoint(applications, access))
    .all(methodNotAllowed('POST'));
  router
    .route(`${path}/previous-secret`)
    .delete(endPreviousSecretEndpoint(applications, access))
    .all(methodNotAllowed('DELETE'));
  router
    .route(`${path}/tokens`)
    .get(tokensOfApplicationEndpoint(tokens, access))
    .post(...beforeMaking, readJsonBody, issueTokenEndpoint(tokens, access))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route(`${path}/tokens/:token_id/copy`)
    .post(copyTokenEndpoint(tokens, access))
    .all(methodNotAllowed('POST'));
  router
    .route(`${path}/tokens/:token_id/revoke`)
    .post(revokeTokenEndpoint(tokens, access))
    .all(methodNotAllowed('POST'));
}

/** `path` is the account's, or empty. */
export function accountTokenRoutes(
  router: Pick<IRouter, 'route'>,
  path: string,
  tokens: Tokens,
  { access, beforeMaking }: RequestsOf,
): void {
  router
    .route(`${path}/tokens`)
    .get(tokensOfAccountEndpoint(tokens, access))
    .all(methodNotAllowed('GET', 'HEAD'));
  router
    .route(`${path}/temporary-token`)
    .get(temporaryTokenEndEndpoint(tokens, access))
    .post(...beforeMaking, temporaryTokenEndpoint(tokens, access))
    .delete(revokeTemporaryTokenEndpoint(tokens, access))
    .all(methodNotAllowed('GET', 'HEAD', 'POST', 'DELETE'));
}
