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
import * as usageReports from './migrations/0013-usage-reports.ts';
import * as usageRetention from './migrations/0014-usage-retention.ts';
import * as usageAlerts from './migrations/0015-usage-alerts.ts';
import * as webhooks from './migrations/0016-webhooks.ts';
import * as auditLogIndexes from './migrations/0017-audit-log-indexes.ts';
import * as webhookAttempts from './migrations/0018-webhook-attempts.ts';
import * as usageGaps from './migrations/0019-usage-gaps.ts';
import * as usageUnassignedCounted from './migrations/0020-usage-unassigned-counted.ts';
import * as usageBounds from './migrations/0021-usage-bounds.ts';
import * as publishedRevocations from './migrations/0022-published-revocations.ts';
import * as revokedTokens from './migrations/0023-revoked-tokens.ts';
import * as refusedCalls from './migrations/0024-refused-calls.ts';
import * as planCatalogue from './migrations/0025-plan-catalogue.ts';
import * as signUpPlans from './migrations/0026-sign-up-plans.ts';
import * as twoFactor from './migrations/0027-two-factor.ts';
import * as accountDeletions from './migrations/0029-account-deletions.ts';
import * as refusalsOfCustomers from './migrations/0033-refusals-of-customers.ts';
import * as applicationUses from './migrations/0035-application-uses.ts';
import * as usageAlertTriggers from './migrations/0036-usage-alert-triggers.ts';
import * as dueWork from './migrations/0037-due-work.ts';
import * as quickWebhooks from './migrations/0080-quick-webhooks.ts';
import * as mailRequests from './migrations/0088-mail-requests.ts';

/** `exceptions`: what it takes from the previous version, and why that does no harm (ADR 0035). */
type Migration = Knex.Migration & { exceptions?: Readonly<Record<string, string>> };

type NamedMigration = { name: string; migration: Migration };

/** A list, not a directory, so that bundles include them. Names never change. */
export const MIGRATIONS: readonly NamedMigration[] = [
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
  { name: '0013-usage-reports', migration: usageReports },
  { name: '0014-usage-retention', migration: usageRetention },
  { name: '0015-usage-alerts', migration: usageAlerts },
  { name: '0016-webhooks', migration: webhooks },
  { name: '0017-audit-log-indexes', migration: auditLogIndexes },
  { name: '0018-webhook-attempts', migration: webhookAttempts },
  { name: '0019-usage-gaps', migration: usageGaps },
  { name: '0020-usage-unassigned-counted', migration: usageUnassignedCounted },
  { name: '0021-usage-bounds', migration: usageBounds },
  { name: '0022-published-revocations', migration: publishedRevocations },
  { name: '0023-revoked-tokens', migration: revokedTokens },
  { name: '0024-refused-calls', migration: refusedCalls },
  { name: '0025-plan-catalogue', migration: planCatalogue },
  { name: '0026-sign-up-plans', migration: signUpPlans },
  { name: '0027-two-factor', migration: twoFactor },
  { name: '0029-account-deletions', migration: accountDeletions },
  { name: '0033-refusals-of-customers', migration: refusalsOfCustomers },
  { name: '0035-application-uses', migration: applicationUses },
  { name: '0036-usage-alert-triggers', migration: usageAlertTriggers },
  { name: '0037-due-work', migration: dueWork },
  { name: '0080-quick-webhooks', migration: quickWebhooks },
  { name: '0088-mail-requests', migration: mailRequests },
];

export function migrationSource(upTo?: string): Knex.MigrationSource<NamedMigration> {
  const end = upTo === undefined ? undefined : MIGRATIONS.findIndex(({ name }) => name === upTo) + 1;
  return {
    getMigrations: () => Promise.resolve(MIGRATIONS.slice(0, end)),
    getMigrationName: ({ name }) => name,
    getMigration: ({ migration }) => Promise.resolve(migration),
  };
}

/** `pending` were not applied yet; `unknown` were applied by a newer version. */
export function compareMigrations(applied: readonly string[]): { pending: string[]; unknown: string[] } {
  const own = MIGRATIONS.map(({ name }) => name);
  return {
    pending: own.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !own.includes(name)),
  };
}
