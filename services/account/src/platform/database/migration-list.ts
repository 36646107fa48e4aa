import type { Knex } from 'knex';
import * as schema from './migrations/0001-schema.ts';
import * as credits from './migrations/0002-credits.ts';
import * as payments from './migrations/0003-payments.ts';
import * as budgets from './migrations/0004-budgets.ts';
import * as subscriptions from './migrations/0005-subscriptions.ts';
import * as refunds from './migrations/0006-refunds.ts';
import * as planChanges from './migrations/0007-plan-changes.ts';
import * as topUp from './migrations/0008-top-up.ts';
import * as operations from './migrations/0009-operations.ts';
import * as usageLanes from './migrations/0012-usage-lanes.ts';
import * as planKeys from './migrations/0013-plan-keys.ts';
import * as overage from './migrations/0014-overage.ts';
import * as soldTeamSlots from './migrations/0015-sold-team-slots.ts';
import * as reducedGrants from './migrations/0016-reduced-grants.ts';
import * as overageInvoices from './migrations/0017-overage-invoices.ts';
import * as operators from './migrations/0018-operators.ts';
import * as invoiceNumbers from './migrations/0019-invoice-numbers.ts';
import * as lateOverage from './migrations/0020-late-overage.ts';
import * as graphql from './migrations/0022-graphql.ts';
import * as operatorsOidc from './migrations/0023-operators-oidc.ts';
import * as auditStream from './migrations/0024-audit-stream.ts';
import * as authorization from './migrations/0026-authorization.ts';
import * as memberRoles from './migrations/0029-member-roles.ts';
import * as datedMovements from './migrations/0032-dated-movements.ts';
import * as operatorViews from './migrations/0036-operator-views.ts';
import * as teamDomains from './migrations/0039-team-domains.ts';
import * as pendingActs from './migrations/0043-pending-acts.ts';
import * as teamSso from './migrations/0045-team-sso.ts';
import * as scim from './migrations/0048-scim.ts';
import * as clientRegistrations from './migrations/0051-client-registrations.ts';
import * as billingDates from './migrations/0054-billing-dates.ts';
import * as freePlans from './migrations/0055-free-plans.ts';
import * as sentMails from './migrations/0060-sent-mails.ts';
import * as actsOnPlans from './migrations/0061-acts-on-plans.ts';
import * as teamApplications from './migrations/0066-team-applications.ts';
import * as verifiedApplications from './migrations/0067-verified-applications.ts';
import * as entitlementNotices from './migrations/0069-entitlement-notices.ts';
import * as followingPlans from './migrations/0070-following-plans.ts';
import * as unpaidChanges from './migrations/0071-unpaid-changes.ts';
import * as auditedChanges from './migrations/0073-audited-changes.ts';
import * as growingLanes from './migrations/0075-growing-lanes.ts';
import * as installation from './migrations/0076-installation.ts';
import * as quickAlertChecks from './migrations/0079-quick-alert-checks.ts';

/** `exceptions`: what it takes from the previous version, and why that does no harm (docs/design/stores.md). */
type Migration = Pick<Knex.Migration, 'up'> & { exceptions?: Readonly<Record<string, string>> };

export type NamedMigration = { name: string; migration: Migration };

/** A list, not a directory, so that bundles include them. Names never change. */
export const MIGRATIONS: readonly NamedMigration[] = [
  { name: '0001-schema', migration: schema },
  { name: '0002-credits', migration: credits },
  { name: '0003-payments', migration: payments },
  { name: '0004-budgets', migration: budgets },
  { name: '0005-subscriptions', migration: subscriptions },
  { name: '0006-refunds', migration: refunds },
  { name: '0007-plan-changes', migration: planChanges },
  { name: '0008-top-up', migration: topUp },
  { name: '0009-operations', migration: operations },
  { name: '0012-usage-lanes', migration: usageLanes },
  { name: '0013-plan-keys', migration: planKeys },
  { name: '0014-overage', migration: overage },
  { name: '0015-sold-team-slots', migration: soldTeamSlots },
  { name: '0016-reduced-grants', migration: reducedGrants },
  { name: '0017-overage-invoices', migration: overageInvoices },
  { name: '0018-operators', migration: operators },
  { name: '0019-invoice-numbers', migration: invoiceNumbers },
  { name: '0020-late-overage', migration: lateOverage },
  { name: '0022-graphql', migration: graphql },
  { name: '0023-operators-oidc', migration: operatorsOidc },
  { name: '0024-audit-stream', migration: auditStream },
  { name: '0026-authorization', migration: authorization },
  { name: '0029-member-roles', migration: memberRoles },
  { name: '0032-dated-movements', migration: datedMovements },
  { name: '0036-operator-views', migration: operatorViews },
  { name: '0039-team-domains', migration: teamDomains },
  { name: '0043-pending-acts', migration: pendingActs },
  { name: '0045-team-sso', migration: teamSso },
  { name: '0048-scim', migration: scim },
  { name: '0051-client-registrations', migration: clientRegistrations },
  { name: '0054-billing-dates', migration: billingDates },
  { name: '0055-free-plans', migration: freePlans },
  { name: '0060-sent-mails', migration: sentMails },
  { name: '0061-acts-on-plans', migration: actsOnPlans },
  { name: '0066-team-applications', migration: teamApplications },
  { name: '0067-verified-applications', migration: verifiedApplications },
  { name: '0069-entitlement-notices', migration: entitlementNotices },
  { name: '0070-following-plans', migration: followingPlans },
  { name: '0071-unpaid-changes', migration: unpaidChanges },
  { name: '0073-audited-changes', migration: auditedChanges },
  { name: '0075-growing-lanes', migration: growingLanes },
  { name: '0076-installation', migration: installation },
  { name: '0079-quick-alert-checks', migration: quickAlertChecks },
];

export function migrationSource(
  migrations: readonly NamedMigration[],
  upTo?: string,
): Knex.MigrationSource<NamedMigration> {
  const end = upTo === undefined ? undefined : migrations.findIndex(({ name }) => name === upTo) + 1;
  return {
    getMigrations: () => Promise.resolve(migrations.slice(0, end)),
    getMigrationName: ({ name }) => name,
    // knex asks for a way back. There is none: a release that is rolled back runs on the newer schema
    // (docs/design/stores.md).
    getMigration: ({ name, migration }) =>
      Promise.resolve({ up: migration.up, down: () => Promise.reject(new Error(`${name} stays`)) }),
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
