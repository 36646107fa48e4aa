import type { Command } from 'commander';
import { addList, newGroup } from '../commands.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

export function auditGroup(open: Open): Command {
  const group = newGroup('audit', 'who did what');
  addList(group, open, {
    description: 'lists entries of the audit log, newest first; what is asked for holds together',
    path: '/private/audit-log',
    items: 'entries',
    columns: ['audit_id', 'at', 'actor', 'action', 'account_id', 'application_id', 'address', 'details'],
    filters: [
      {
        parameter: 'account_id',
        flags: '--account <account_id>',
        description: 'about one account',
        parse: values.id,
      },
      {
        parameter: 'application_id',
        flags: '--application <application_id>',
        description: 'about one application',
        parse: values.id,
      },
      {
        parameter: 'actor',
        flags: '--actor <actor>',
        description: 'by one: operator:<id>, account:<id>, renewal, …',
      },
      {
        parameter: 'action',
        flags: '--action <action>',
        description:
          'of one kind: plan_changed, account_blocked, …; an unknown one is answered with all that there are',
      },
      {
        parameter: 'from',
        flags: '--from <time>',
        description: 'not before this time or day',
        parse: values.time,
      },
      {
        parameter: 'to',
        flags: '--to <time>',
        description: 'before this time, or up to this day',
        parse: values.time,
      },
    ],
  });
  return group;
}
