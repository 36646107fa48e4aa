import { Problem } from '@tollgate/http/problem';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { RevocationOutbox } from '../../platform/outbox/revocations/revocation-outbox.ts';
import type { Page } from '../../http/input/page.ts';
import type { Application, ApplicationFilter, ApplicationKey, LiveSecret } from './application.ts';
import {
  changeApplication,
  createApplication,
  deleteApplication,
  revokeApplication,
  rotateSecret,
  takeOverRevocation,
} from './changes.ts';
import type { ApplicationSettings, Changes, Created, NewApplication, Rotated } from './changes.ts';
import { findApplication, listApplications, liveSecrets } from './store.ts';

/**
 * Whether the change is in force: auth has acknowledged it or, of a revocation, every cache has been told. It is told
 * until it has.
 */
type Delivered = { delivered: boolean };

/**
 * Reading and changing applications, each change in one transaction. What takes a key throws `not_found` where
 * there is no such application, none any more, or only another account's.
 */
export type Applications = {
  /** @throws {Problem} invalid_request for an unknown account; application_limit_reached */
  create: (wanted: NewApplication, by: Actor) => Promise<Created>;
  /** Of an account, or of everybody where that is null; newest first. */
  list: (accountId: number | null, wanted: Page & ApplicationFilter) => Promise<Application[]>;
  find: (key: ApplicationKey) => Promise<{ application: Application; secrets: LiveSecret[] }>;
  change: (
    key: ApplicationKey,
    changes: Changes,
    by: Actor,
  ) => Promise<{ application: Application } & Delivered>;
  revoke: (key: ApplicationKey, by: Actor) => Promise<{ application: Application } & Delivered>;
  /** A revocation that auth knows of and Postgres has lost; null where it hasn't. */
  takeOverRevocation: (
    known: { client_id: string; revocation_epoch: number },
    by: Actor,
  ) => Promise<Application | null>;
  /** A new secret; a revoked application is active again, without its old tokens and secrets. */
  rotateSecret: (
    key: ApplicationKey,
    overlapSec: number,
    by: Actor,
  ) => Promise<Omit<Rotated, 'pending'> & Delivered>;
  remove: (key: ApplicationKey, by: Actor) => Promise<void>;
};

export function createApplications(
  options: ApplicationSettings & {
    transact: Transact;
    query: Query;
  } & Pick<RevocationOutbox, 'deliver'>,
): Applications {
  const { transact, query, deliver, ...settings } = options;
  return {
    create: (wanted, by) => transact((inside) => createApplication(inside, wanted, settings, by)),
    list: (accountId, wanted) => listApplications(query, accountId, wanted),
    find: async (key) => {
      const application = await findApplication(query, key);
      if (application === undefined) throw new Problem('not_found');
      return { application, secrets: await liveSecrets(query, key.application_id, new Date()) };
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
      // auth, who asks, looks the client up again at once.
      void deliver(taken.pending);
      return taken.application;
    },
    rotateSecret: async (key, overlapSec, by) => {
      const { pending, ...rotated } = await transact((inside) =>
        rotateSecret(inside, { ...key, overlapSec }, settings.peppers, by),
      );
      return { ...rotated, delivered: await deliver(pending) };
    },
    remove: async (key, by) => {
      await deliver(await transact((inside) => deleteApplication(inside, key, by)));
    },
  };
}
