import { Problem } from '@tollgate/http/problem';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { ClientChangeOutbox } from '../client-changes/client-change-outbox.ts';
import type { Page } from '../../http/input/page.ts';
import type { Application, ApplicationFilter, ApplicationKey, LiveSecret } from './application.ts';
import {
  changeApplication,
  createApplication,
  deleteApplication,
  endPreviousSecret,
  endVerification,
  revokeApplication,
  rotateSecret,
  takeOverRevocation,
  verifyApplication,
} from './changes.ts';
import type {
  ApplicationSettings,
  Changes,
  Created,
  Rotated,
  Verification,
  WantedApplication,
} from './changes.ts';
import { countLive } from './live-tokens.ts';
import { findApplication, inOpenAccount, listApplications, liveSecrets } from './store.ts';

/** Whether auth has acknowledged it or, of a revocation, every cache was told. Retried until then. */
type Delivered = { delivered: boolean };

/** Each change is one transaction. @throws {Problem} not_found, also for another account's application */
export type Applications = {
  /** @throws {Problem} invalid_request for an unknown account; application_limit_reached */
  create: (wanted: WantedApplication, by: Actor) => Promise<Created>;
  /** Of all accounts if null; newest first. */
  list: (accountId: number | null, wanted: Page & ApplicationFilter) => Promise<Application[]>;
  find: (key: ApplicationKey) => Promise<{
    application: Application;
    /** Newest first. */
    secrets: LiveSecret[];
    active_manual_tokens: number;
  }>;
  change: (
    key: ApplicationKey,
    changes: Changes,
    by: Actor,
  ) => Promise<{ application: Application } & Delivered>;
  revoke: (key: ApplicationKey, by: Actor) => Promise<{ application: Application } & Delivered>;
  /** For a revocation that auth knows and Postgres has lost; null if nothing was lost. */
  takeOverRevocation: (
    known: { client_id: string; revocation_epoch: number },
    by: Actor,
  ) => Promise<Application | null>;
  /** Reactivates a revoked application, without its old tokens and secrets. */
  rotateSecret: (
    key: ApplicationKey,
    overlapSec: number,
    by: Actor,
  ) => Promise<Omit<Rotated, 'pending'> & Delivered>;
  /** Ends the overlap of a rotation. */
  endPreviousSecret: (key: ApplicationKey, by: Actor) => Promise<{ application: Application } & Delivered>;
  remove: (key: ApplicationKey, by: Actor) => Promise<void>;
  /** By an operator. @throws {Problem} invalid_request for another type; application_revoked; changed_meanwhile */
  verify: (applicationId: number, read: Verification, by: Actor) => Promise<Application>;
  /** By an operator. */
  endVerification: (applicationId: number, by: Actor) => Promise<Application>;
};

export function createApplications(
  options: ApplicationSettings & {
    transact: Transact;
    query: Query;
  } & Pick<ClientChangeOutbox, 'deliver'>,
): Applications {
  const { transact, query, deliver, ...settings } = options;
  return {
    create: (wanted, by) =>
      inOpenAccount(transact((inside) => createApplication(inside, wanted, settings, by))),
    list: (accountId, wanted) => listApplications(query, accountId, wanted),
    find: async (key) => {
      const application = await findApplication(query, key);
      if (application === undefined) throw new Problem('not_found');
      const { application_id } = key;
      const now = new Date();
      const secrets = await liveSecrets(query, application_id, now);
      return { application, secrets, active_manual_tokens: await countLive(query, application_id, now) };
    },
    change: async (key, changes, by) => {
      const { application, pending } = await transact((inside) =>
        changeApplication(inside, key, changes, by),
      );
      return { application, delivered: pending === null || (await deliver(pending)) };
    },
    revoke: async (key, by) => {
      const { application, pending } = await transact((inside) => revokeApplication(inside, key, by));
      return { application, delivered: await deliver(pending) };
    },
    takeOverRevocation: async (known, by) => {
      const taken = await transact((inside) => takeOverRevocation(inside, known, by));
      if (taken === undefined) return null;
      // auth looks the client up again at once, so the response needn't wait for the outbox.
      void deliver(taken.pending);
      return taken.application;
    },
    rotateSecret: async (key, overlapSec, by) => {
      const { pending, ...rotated } = await inOpenAccount(
        transact((inside) => rotateSecret(inside, { ...key, overlapSec }, settings.peppers, by)),
      );
      return { ...rotated, delivered: await deliver(pending) };
    },
    endPreviousSecret: async (key, by) => {
      const { application, pending } = await transact((inside) => endPreviousSecret(inside, key, by));
      return { application, delivered: pending === null || (await deliver(pending)) };
    },
    remove: async (key, by) => {
      await deliver(await transact((inside) => deleteApplication(inside, key, by)));
    },
    verify: (id, read, by) => transact((inside) => verifyApplication(inside, id, read, by)),
    endVerification: (id, by) => transact((inside) => endVerification(inside, id, by)),
  };
}
