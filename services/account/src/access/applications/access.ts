import type { Request, Response } from 'express';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import { idOf } from '../../http/input/id-parameter.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import type { ApplicationKey } from './application.ts';

/** The same endpoints serve operators and, at /api/console, an account's owner. */
export type Access = {
  actorOf: (req: Request, res: Response) => Actor;
  /** @throws {Problem} not_found for an impossible id */
  accountOf: (req: Request, res: Response) => number;
  /** @throws {Problem} not_found for an impossible id */
  applicationOf: (req: Request, res: Response) => ApplicationKey;
  locationOf: (applicationId: number) => string;
};

/** Behind requireServiceCredential. */
export const operatorAccess: Access = {
  actorOf: operatorOf,
  accountOf: (req) => idOf(req, 'account_id'),
  applicationOf: (req) => ({ application_id: idOf(req, 'application_id'), owner_id: null }),
  locationOf: (applicationId) => `/private/applications/${String(applicationId)}`,
};

/** The signed-in account's applications. Behind requireSession. */
export const ownerAccess: Access = {
  actorOf: (_req, res) => signedIn(res).actor,
  accountOf: (_req, res) => signedIn(res).account_id,
  applicationOf: (req, res) => ({
    application_id: idOf(req, 'application_id'),
    owner_id: signedIn(res).account_id,
  }),
  locationOf: (applicationId) => `/api/console/applications/${String(applicationId)}`,
};
