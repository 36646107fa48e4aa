import type { Pepper } from '@tollgate/client-secret';
import { Problem } from '@tollgate/problem';
import type { Actor } from '../audit/audit-log.ts';
import type { Query, Transact } from '../database/query.ts';
import type { RevocationOutbox } from '../outbox/revocation-outbox.ts';
import type { Application, LiveSecret } from './application.ts';
import { createApplication, deleteApplication, revokeApplication, rotateSecret } from './changes.ts';
import type { Created, NewApplication, Rotated } from './changes.ts';
import { findApplication, liveSecrets } from './store.ts';

/** Whether auth has acknowledged the change by now; it is told until it has. */
type Delivered = { delivered: boolean };

/**
 * Reading and changing applications, each change in one transaction. All but `create` throw `not_found` where
 * there is no such application, or none any more.
 */
export type Applications = {
  /** @throws {Problem} invalid_request for an unknown account */
  create: (wanted: NewApplication, by: Actor) => Promise<Created>;
  find: (applicationId: number) => Promise<{ application: Application; secrets: LiveSecret[] }>;
  revoke: (applicationId: number, by: Actor) => Promise<{ application: Application } & Delivered>;
  /** A new secret; a revoked application is active again, without its old tokens and secrets. */
  rotateSecret: (
    applicationId: number,
    overlapSec: number,
    by: Actor,
  ) => Promise<Omit<Rotated, 'pending'> & Delivered>;
  remove: (applicationId: number, by: Actor) => Promise<void>;
};

export function createApplications(options: {
  transact: Transact;
  query: Query;
  peppers: readonly Pepper[];
  deliver: RevocationOutbox['deliver'];
}): Applications {
  const { transact, query, peppers, deliver } = options;
  return {
    create: (wanted, by) => transact((inside) => createApplication(inside, wanted, peppers, by)),
    find: async (applicationId) => {
      const application = await findApplication(query, applicationId);
      if (application === undefined) throw new Problem('not_found');
      return { application, secrets: await liveSecrets(query, applicationId, new Date()) };
    },
    revoke: async (applicationId, by) => {
      const { application, pending } = await transact((inside) =>
        revokeApplication(inside, applicationId, by),
      );
      return { application, delivered: await deliver(pending) };
    },
    rotateSecret: async (applicationId, overlapSec, by) => {
      const { pending, ...rotated } = await transact((inside) =>
        rotateSecret(inside, { applicationId, overlapSec }, peppers, by),
      );
      return { ...rotated, delivered: await deliver(pending) };
    },
    remove: async (applicationId, by) => {
      await deliver(await transact((inside) => deleteApplication(inside, applicationId, by)));
    },
  };
}
