import type { Request, RequestHandler, Response } from 'express';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { serviceCallerId } from '@tollgate/private-api/credential';
import type { Actor } from '../audit/audit-log.ts';
import type { Application } from './application.ts';
import type { Applications } from './applications.ts';
import { applicationIdOf, bodyOf, newApplicationSchema, rotationSchema } from './input.ts';

/**
 * The operator API for applications, on the private listener under `/private/applications`. Every answer holds
 * the application: `application_id, account_id, name, type, token_lifespan_sec, client_id, status,
 * revocation_epoch, created_at`. 404 `not_found` for one that is unknown or deleted, 400 `invalid_request`
 * with a detail that names the faulty members, 401 without an operator's credential, 503 while Postgres is
 * away (a change may then have come to pass all the same; asking for it again does no harm).
 */

/** No answer may be kept: two of them hold a secret, all of them change. */
export const noStore: RequestHandler = (_req, res, next) => {
  res.set('cache-control', 'no-store');
  next();
};

/**
 * `POST /private/applications` with `{account_id, name, type, token_lifespan_sec}`: 201, and
 * `client_secret`, which is shown here and never again.
 */
export function createEndpoint({ create }: Pick<Applications, 'create'>): RequestHandler {
  return async (req, res) => {
    const { application, client_secret } = await create(bodyOf(req, newApplicationSchema), actorOf(req, res));
    res
      .status(201)
      .location(`/private/applications/${String(application.application_id)}`)
      .json({ ...answer(application), client_secret });
  };
}

/** `GET /private/applications/{application_id}`: 200, and `secrets`: since when and until when each is live. */
export function readEndpoint({ find }: Pick<Applications, 'find'>): RequestHandler {
  return async (req, res) => {
    const { application, secrets } = await find(applicationIdOf(req));
    res.json({
      ...answer(application),
      secrets: secrets.map(({ created_at, expires_at }) => ({ created_at, expires_at })),
    });
  };
}

/**
 * `POST /private/applications/{application_id}/revoke`, without a body: its tokens and its secrets are dead.
 * 200, and `delivered`: whether auth has acknowledged it; where it hasn't within a second, it is told until it
 * has. Each revocation raises the epoch by one, also of an application that is revoked already.
 */
export function revokeEndpoint({ revoke }: Pick<Applications, 'revoke'>): RequestHandler {
  return async (req, res) => {
    const { application, delivered } = await revoke(applicationIdOf(req), actorOf(req, res));
    res.json({ ...answer(application), delivered });
  };
}

/**
 * `POST /private/applications/{application_id}/rotate-secret` with `{overlap_sec}`: 200, and the new
 * `client_secret`, which is shown here and never again, `previous_secret_expires_at` (null where no other
 * secret is live any more) and `delivered`. A revoked application is active again.
 */
export function rotateSecretEndpoint({ rotateSecret }: Pick<Applications, 'rotateSecret'>): RequestHandler {
  return async (req, res) => {
    const { overlap_sec } = bodyOf(req, rotationSchema);
    const rotated = await rotateSecret(applicationIdOf(req), overlap_sec, actorOf(req, res));
    const { application, client_secret, previous_secret_expires_at, delivered } = rotated;
    res.json({ ...answer(application), client_secret, previous_secret_expires_at, delivered });
  };
}

/** `DELETE /private/applications/{application_id}`: 204; as revoked, and gone for good but for the audit log. */
export function deleteEndpoint({ remove }: Pick<Applications, 'remove'>): RequestHandler {
  return async (req, res) => {
    await remove(applicationIdOf(req), actorOf(req, res));
    res.status(204).end();
  };
}

function actorOf(req: Request, res: Response): Actor {
  return {
    actor: `operator:${serviceCallerId(res)}`,
    address: req.socket.remoteAddress ?? 'unknown',
    request_id: res.get(REQUEST_ID_HEADER) ?? 'unknown',
  };
}

function answer(application: Application): Application {
  const { application_id, account_id, name, type, token_lifespan_sec, client_id } = application;
  const { status, revocation_epoch, created_at } = application;
  return {
    application_id,
    account_id,
    name,
    type,
    token_lifespan_sec,
    client_id,
    status,
    revocation_epoch,
    created_at,
  };
}
