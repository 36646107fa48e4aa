import type { Knex } from 'knex';
import { ACCOUNTS } from './0001-schema/accounts.ts';
import { ALERT_CHECKS } from './0001-schema/alert-checks.ts';
import { APPLICATIONS } from './0001-schema/applications.ts';
import { AUDIT_LOG } from './0001-schema/audit-log.ts';
import { BILLING } from './0001-schema/billing.ts';
import { CHANGED_ENTITLEMENTS } from './0001-schema/changed-entitlements.ts';
import { DUE_WORK } from './0001-schema/due-work.ts';
import { NOTIFICATIONS } from './0001-schema/notifications.ts';
import { REFUSALS } from './0001-schema/refusals.ts';
import { SIGN_IN } from './0001-schema/sign-in.ts';
import { USAGE } from './0001-schema/usage.ts';

/** The schema of the first release: the tables by domain, then the triggers that announce changes. */
export async function up(knex: Knex): Promise<void> {
  const tables = [ACCOUNTS, SIGN_IN, AUDIT_LOG, BILLING, APPLICATIONS, USAGE, REFUSALS, NOTIFICATIONS];
  const triggers = [CHANGED_ENTITLEMENTS, ALERT_CHECKS, DUE_WORK];
  await knex.schema.raw([...tables, ...triggers].join('\n'));
}
