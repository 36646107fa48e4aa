import type { Request, Response } from 'express';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import { idOf } from '../../http/input/id-parameter.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import type { ApplicationKey } from './application.ts';

/** Who may ask for what: the same endpoints serve operators and, by the console, an account's owner. */
export type Access = {
  /** For the audit log. */
  actorOf: (req: Request, res: Response) => Actor;
  /** The account that is asked about. @throws {Problem} not_found for one that no account can have */
  accountOf: (req: Request, res: Response) => number;
  /** The path's application. @throws {Problem} not_found for one that no application can have */
  applicationOf: (req: Request, res: Response) => ApplicationKey;
  /** Where an application is found. */
  locationOf: (applicationId: number) => string;
};

/** Operators: every application, and the account of the path. Behind requireServiceCredential. */
export const operatorAccess: Access = {
  actorOf: operatorOf,
  accountOf: (req) => idOf(req, 'account_id'),
  applicationOf: (req) => ({ application_id: idOf(req, 'application_id'), owner_id: null }),
  locationOf: (applicationId) => `/private/applications/${String(applicationId)}`,
};

/** Who is signed in: their own applications, and their own account. Behind requireSession. */
export const ownerAccess: Access = {
  actorOf: (_req, res) => signedIn(res).actor,
  accountOf: (_req, res) => signedIn(res).account_id,
  applicationOf: (req, res) => ({
    application_id: idOf(req, 'application_id'),
    owner_id: signedIn(res).account_id,
  }),
  locationOf: (applicationId) => `/api/console/applications/${String(applicationId)}`,
};
