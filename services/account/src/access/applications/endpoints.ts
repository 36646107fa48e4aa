import type { RequestHandler, Response } from 'express';
import type { z } from 'zod';
import { bodyOf } from '../../http/input/json-body.ts';
import { cutPage, lookAhead, queryOf } from '../../http/input/page.ts';
import { operatorAccess, ownerAccess } from './access.ts';
import type { Access } from './access.ts';
import type { Application } from './application.ts';
import type { Applications } from './applications.ts';
import type { Created } from './changes.ts';
import {
  applicationListSchema,
  changesSchema,
  newApplicationSchema,
  operatedListSchema,
  ownApplicationSchema,
  rotationSchema,
} from './input.ts';
import { lifespanLabel } from './rules.ts';

/**
 * Applications, for operators and for their owner (`/api/console`). 404 `not_found` also for a deleted
 * application and, to an owner, another account's; 400 `invalid_request`; 401; 503 if Postgres is
 * unavailable. After a 503, repeating is safe except for a creation, which may make a second application.
 */

/**
 * `POST /private/applications` with `{account_id, name, type, token_lifespan_sec}`: 201 with `client_secret`,
 * only here. 409 `application_limit_reached`; revoked applications count.
 */
export function createEndpoint({ create }: Pick<Applications, 'create'>): RequestHandler {
  return async (req, res) => {
    const wanted = bodyOf(req, newApplicationSchema);
    sendCreated(res, await create(wanted, operatorAccess.actorOf(req, res)), operatorAccess);
  };
}

/** `POST /api/console/applications`: the same for the signed-in account. */
export function createOwnEndpoint({ create }: Pick<Applications, 'create'>): RequestHandler {
  return async (req, res) => {
    const wanted = { ...bodyOf(req, ownApplicationSchema), account_id: ownerAccess.accountOf(req, res) };
    sendCreated(res, await create(wanted, ownerAccess.actorOf(req, res)), ownerAccess);
  };
}

/**
 * `GET /api/console/applications?limit=50&cursor=…&status=active&type=manual&search=…`: 200 `{applications,
 * next_cursor}`, newest first; `limit` is 1 to 200, `next_cursor` null at the end. `search` is a part of the
 * name or of the client id.
 */
export function listOwnEndpoint({ list }: Pick<Applications, 'list'>): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, applicationListSchema);
    await sendList(res, list, ownerAccess.accountOf(req, res), wanted);
  };
}

/** `GET /private/applications?account_id=…`: the same, of one account or of all. */
export function listEndpoint({ list }: Pick<Applications, 'list'>): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, operatedListSchema);
    await sendList(res, list, wanted.account_id ?? null, wanted);
  };
}

/**
 * `PATCH …/applications/{application_id}` with `{name, token_lifespan_sec}` or one of them: 200, `delivered`.
 */
export function changeEndpoint({ change }: Pick<Applications, 'change'>, access: Access): RequestHandler {
  return async (req, res) => {
    const changes = bodyOf(req, changesSchema);
    const key = access.applicationOf(req, res);
    const { application, delivered } = await change(key, changes, access.actorOf(req, res));
    res.json({ ...answer(application), delivered });
  };
}

/**
 * `GET …/applications/{application_id}`: 200 with `secrets`, as `{created_at, expires_at}`, and
 * `active_manual_tokens`.
 */
export function readEndpoint({ find }: Pick<Applications, 'find'>, access: Access): RequestHandler {
  return async (req, res) => {
    const { application, secrets, active_manual_tokens } = await find(access.applicationOf(req, res));
    res.json({
      ...answer(application),
      secrets: secrets.map(({ created_at, expires_at }) => ({ created_at, expires_at })),
      active_manual_tokens,
    });
  };
}

/**
 * `POST …/applications/{application_id}/revoke`, without a body: 200. `delivered` is whether auth has
 * acknowledged it or every gateway was told within a second. Each revocation raises the epoch.
 */
export function revokeEndpoint({ revoke }: Pick<Applications, 'revoke'>, access: Access): RequestHandler {
  return async (req, res) => {
    const { application, delivered } = await revoke(access.applicationOf(req, res), access.actorOf(req, res));
    res.json({ ...answer(application), delivered });
  };
}

/**
 * `POST …/applications/{application_id}/rotate-secret` with `{overlap_sec}`: 200 with the new
 * `client_secret`. Reactivates a revoked application. `previous_secret_expires_at` is null if no other secret
 * is live. 409 `previous_secret_active`, with `previous_secret_expires_at`, within the overlap of another rotation.
 */
export function rotateSecretEndpoint(
  { rotateSecret }: Pick<Applications, 'rotateSecret'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    const { overlap_sec } = bodyOf(req, rotationSchema);
    const rotated = await rotateSecret(access.applicationOf(req, res), overlap_sec, access.actorOf(req, res));
    const { application, client_secret, previous_secret_expires_at, delivered } = rotated;
    res.json({ ...answer(application), client_secret, previous_secret_expires_at, delivered });
  };
}

/**
 * `DELETE …/applications/{application_id}/previous-secret`: 200, also without one. Ends the overlap of a
 * rotation at once.
 */
export function endPreviousSecretEndpoint(
  { endPreviousSecret }: Pick<Applications, 'endPreviousSecret'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    const key = access.applicationOf(req, res);
    const { application, delivered } = await endPreviousSecret(key, access.actorOf(req, res));
    res.json({ ...answer(application), delivered });
  };
}

/** `DELETE …/applications/{application_id}`: 204. A final revocation. */
export function deleteEndpoint({ remove }: Pick<Applications, 'remove'>, access: Access): RequestHandler {
  return async (req, res) => {
    await remove(access.applicationOf(req, res), access.actorOf(req, res));
    res.status(204).end();
  };
}

async function sendList(
  res: Response,
  list: Applications['list'],
  accountId: number | null,
  wanted: z.output<typeof applicationListSchema>,
): Promise<void> {
  const { status = null, type = null, search = null } = wanted;
  const found = await list(accountId, { ...lookAhead(wanted), status, type, search });
  const { rows, next_cursor } = cutPage(found, wanted, ({ application_id }) => application_id);
  res.json({ applications: rows.map(answer), next_cursor });
}

function sendCreated(res: Response, { application, client_secret }: Created, access: Access): void {
  res
    .status(201)
    .location(access.locationOf(application.application_id))
    .json({ ...answer(application), client_secret });
}

function answer(application: Application): Application & { token_lifespan_label: string } {
  const { application_id, account_id, name, type, token_lifespan_sec, client_id } = application;
  const { status, revocation_epoch, created_at, last_used_at } = application;
  return {
    application_id,
    account_id,
    name,
    type,
    token_lifespan_sec,
    token_lifespan_label: lifespanLabel(token_lifespan_sec),
    client_id,
    status,
    revocation_epoch,
    created_at,
    last_used_at,
  };
}
