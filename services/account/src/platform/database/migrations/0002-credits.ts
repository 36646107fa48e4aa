import type { Knex } from 'knex';
import { GRANTS } from './0002-credits/grants.ts';
import { MOVEMENTS } from './0002-credits/movements.ts';
import { SETTLEMENT } from './0002-credits/settlement.ts';
import { NOTICES } from './0002-credits/notices.ts';
import { ALERTS } from './0002-credits/alerts.ts';
import { CLOSINGS } from './0002-credits/closings.ts';
import { ANNOUNCEMENTS } from './0002-credits/announcements.ts';

/** Credits: points that an account has in addition to its plan's (docs/design/credits.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw([GRANTS, MOVEMENTS, SETTLEMENT, CLOSINGS, NOTICES, ALERTS, ANNOUNCEMENTS].join('\n'));
}

export const exceptions = {
  'webhook_deliveries_event_type_check is a rule, or an index, that webhook_deliveries did not have':
    'it replaces one that allows fewer types of events',
};
