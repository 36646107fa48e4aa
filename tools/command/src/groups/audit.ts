import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Query } from '../api/client.ts';
import { addList, newGroup } from '../commands.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

export function auditGroup(open: Open): Command {
  const group = newGroup('audit', 'Read the audit log');
  addList(group, open, {
    description: 'List entries of the audit log, newest first. Filters combine with AND',
    page: (api: Api, query: Query<'listAuditLog'>) =>
      resultOf(api.GET('/private/audit-log', { params: { query } })),
    itemsOf: ({ entries }) => entries,
    columns: [
      'audit_id',
      'at',
      'actor',
      'action',
      'account_id',
      'application_id',
      'address',
      'details',
      'before',
      'after',
    ],
    filters: [
      {
        parameter: 'account_id',
        flags: '--account <account_id>',
        description: 'filter by account',
        parse: values.id,
      },
      {
        parameter: 'application_id',
        flags: '--application <application_id>',
        description: 'filter by application',
        parse: values.id,
      },
      {
        parameter: 'actor',
        flags: '--actor <actor>',
        description: 'filter by actor: operator:<id>, account:<id>, renewal, …',
      },
      {
        parameter: 'action',
        flags: '--action <action>',
        description:
          'filter by action, such as plan_changed or account_blocked. An unknown action lists all actions',
      },
      {
        parameter: 'from',
        flags: '--from <time>',
        description: 'start of the time range, inclusive',
        parse: values.time,
      },
      {
        parameter: 'to',
        flags: '--to <time>',
        description: 'end of the time range: before this time, or through this day',
        parse: values.time,
      },
    ],
  });
  return group;
}
