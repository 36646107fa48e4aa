import type { Knex } from 'knex';
import * as accounts from './migrations/0001-accounts.ts';
import * as billing from './migrations/0002-billing.ts';
import * as applications from './migrations/0003-applications.ts';
import * as usage from './migrations/0004-usage.ts';
import * as revocationOutbox from './migrations/0005-revocation-outbox.ts';
import * as auditLog from './migrations/0006-audit-log.ts';

type NamedMigration = { name: string; migration: Knex.Migration };

/** Every migration, in order. A list, not a directory, so that a bundle holds them. Names never change. */
const MIGRATIONS: readonly NamedMigration[] = [
  { name: '0001-accounts', migration: accounts },
  { name: '0002-billing', migration: billing },
  { name: '0003-applications', migration: applications },
  { name: '0004-usage', migration: usage },
  { name: '0005-revocation-outbox', migration: revocationOutbox },
  { name: '0006-audit-log', migration: auditLog },
];

/** knex's view of the list. */
export const migrationSource: Knex.MigrationSource<NamedMigration> = {
  getMigrations: () => Promise.resolve([...MIGRATIONS]),
  getMigrationName: ({ name }) => name,
  getMigration: ({ migration }) => Promise.resolve(migration),
};
