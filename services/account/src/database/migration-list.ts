import type { Knex } from 'knex';
import * as accounts from './migrations/0001-accounts.ts';
import * as billing from './migrations/0002-billing.ts';
import * as applications from './migrations/0003-applications.ts';
import * as usage from './migrations/0004-usage.ts';
import * as revocationOutbox from './migrations/0005-revocation-outbox.ts';
import * as auditLog from './migrations/0006-audit-log.ts';
import * as usageReaders from './migrations/0007-usage-readers.ts';
import * as accessTokens from './migrations/0008-access-tokens.ts';
import * as entitlementOutbox from './migrations/0009-entitlement-outbox.ts';
import * as people from './migrations/0010-people.ts';
import * as teamInvitations from './migrations/0011-team-invitations.ts';
import * as subscriptions from './migrations/0012-subscriptions.ts';
import * as usageAlerts from './migrations/0015-usage-alerts.ts';
import * as webhooks from './migrations/0016-webhooks.ts';

type NamedMigration = { name: string; migration: Knex.Migration };

/** Every migration, in order. A list, not a directory, so that a bundle holds them. Names never change. */
const MIGRATIONS: readonly NamedMigration[] = [
  { name: '0001-accounts', migration: accounts },
  { name: '0002-billing', migration: billing },
  { name: '0003-applications', migration: applications },
  { name: '0004-usage', migration: usage },
  { name: '0005-revocation-outbox', migration: revocationOutbox },
  { name: '0006-audit-log', migration: auditLog },
  { name: '0007-usage-readers', migration: usageReaders },
  { name: '0008-access-tokens', migration: accessTokens },
  { name: '0009-entitlement-outbox', migration: entitlementOutbox },
  { name: '0010-people', migration: people },
  { name: '0011-team-invitations', migration: teamInvitations },
  { name: '0012-subscriptions', migration: subscriptions },
  { name: '0015-usage-alerts', migration: usageAlerts },
  { name: '0016-webhooks', migration: webhooks },
];

/** knex's view of the list. */
export const migrationSource: Knex.MigrationSource<NamedMigration> = {
  getMigrations: () => Promise.resolve([...MIGRATIONS]),
  getMigrationName: ({ name }) => name,
  getMigration: ({ migration }) => Promise.resolve(migration),
};
