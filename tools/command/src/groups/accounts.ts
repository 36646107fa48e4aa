import type { Command } from 'commander';
import { addAction, addGet, addList, addListOf, newGroup, showRecord } from '../commands.ts';
import { tableLines } from '../output.ts';
import type { Row } from '../output.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

const PATH = '/private/accounts';

export function accountsGroup(open: Open): Command {
  const group = newGroup('accounts', 'Manage accounts');
  addList(group, open, {
    description: 'List accounts, newest first',
    path: PATH,
    items: 'accounts',
    columns: ['account_id', 'email', 'name', 'blocked_at', 'created_at'],
    filters: [
      { parameter: 'email', flags: '--email <address>', description: 'filter by email address' },
      {
        parameter: 'blocked',
        flags: '--blocked <yes|no>',
        description: 'filter by whether they are blocked',
        parse: values.yesOrNo,
      },
      {
        parameter: 'deleting',
        flags: '--deleting <yes|no>',
        description: 'filter by whether their owners are deleting them',
        parse: values.yesOrNo,
      },
    ],
  });
  addGet(group, open, { path: PATH, name: 'account_id' });
  group
    .command('create')
    .description('Create an account. The owner sets a password with "forgot password"')
    .requiredOption('--email <address>', 'owner’s email address')
    .requiredOption('--name <name>', 'owner’s name')
    .action(async ({ email, name }: { email: string; name: string }) => {
      const session = open();
      await showRecord(session, await session.api.send('POST', PATH, { email, name }));
    });
  addAction(group, open, {
    path: PATH,
    id: 'account_id',
    name: 'block',
    description: 'Block an account: refuse all calls that it makes or pays for, immediately',
    question: (id) => `Block account ${String(id)}? Its calls, and those of its team, are refused at once.`,
  });
  addAction(group, open, { path: PATH, id: 'account_id', name: 'unblock', description: 'Unblock' });
  addAction(group, open, {
    path: PATH,
    id: 'account_id',
    name: 'reset-two-factor',
    description: 'Turn off two-factor authentication for an owner who has lost all factors, and notify them',
    question: (id) =>
      `Reset two-factor authentication of account ${String(id)}? Its password is enough to sign in afterwards: make sure that it is the owner who asks.`,
  });
  group.addCommand(deletionGroup(open));
  addUsage(group, open);
  addRefusals(group, open);
  return group;
}

/** Of accounts whose owners are deleting them. */
function deletionGroup(open: Open): Command {
  const group = newGroup('deletion', 'Manage deletions that account owners have requested');
  group
    .command('get')
    .description('Show when the account will be erased, and what a deletion ends')
    .argument('<account_id>', 'ID', values.id)
    .action(async (id: number) => {
      const session = open();
      await showRecord(session, await session.api.get(`${PATH}/${String(id)}/deletion`));
    });
  addAction(group, open, {
    pathOf: deletionAction,
    id: 'account_id',
    name: 'cancel',
    description: 'Cancel a deletion, and notify the owner. Revoked applications and tokens stay revoked',
    question: (id) => `Cancel the deletion of account ${String(id)}?`,
  });
  addAction(group, open, {
    pathOf: deletionAction,
    id: 'account_id',
    name: 'carry-out',
    description: 'Erase the account now instead of at the end of the grace, and notify the owner',
    question: (id) =>
      `Erase account ${String(id)} now? Its personal data cannot be restored, and its owner can no longer cancel.`,
  });
  return group;
}

const deletionAction = (id: number, name: string) => `${PATH}/${String(id)}/deletion/${name}`;

function addRefusals(group: Command, open: Open): void {
  addListOf(group, open, {
    name: 'refusals',
    id: 'account_id',
    description: 'List the account’s refused and failed data calls, newest first',
    pathOf: (id) => `${PATH}/${String(id)}/refusals`,
    items: 'refusals',
    columns: ['at', 'request_id', 'kind', 'code', 'status', 'application_id', 'address', 'detail'],
    filters: [
      {
        parameter: 'code',
        flags: '--code <code>',
        description: 'filter by error code, such as points_limit_exceeded',
      },
      {
        parameter: 'application_id',
        flags: '--application <application_id>',
        description: 'filter by application',
        parse: values.id,
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
}

type UsageOptions = Record<
  'interval' | 'from' | 'to' | 'groupBy' | 'view' | 'apiVersion',
  string | undefined
> &
  Record<'application' | 'member', number | undefined>;

/** What the table of usage over time shows of a group, beside what it has used. */
const GROUP_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  application: ['application_id', 'name', 'status'],
  member: ['account_id', 'name', 'email'],
  api_version: ['api_version'],
};

const USAGE_COLUMNS = ['points', 'requests', 'time_sec', 'traffic_bytes'].map(
  (counter) => `usage.${counter}_usage`,
);

function addUsage(group: Command, open: Open): void {
  group
    .command('usage')
    .description('Show usage of the last 14 months by day or hour, application, member or API version')
    .argument('<account_id>', 'ID', values.id)
    .option('--interval <hour|day>', 'bucket size (default day)')
    .option('--from <time>', 'start of the time range, inclusive', values.time)
    .option('--to <time>', 'end of the time range: before this time, or through this day', values.time)
    .option('--group-by <what>', 'group by application, member or api_version instead of time buckets')
    .option('--view <billed|own>', 'usage billed to the account, or its own usage')
    .option('--application <application_id>', 'filter by application', values.id)
    .option('--member <account_id>', 'filter by member', values.id)
    .option('--api-version <v1|v2>', 'filter by API version')
    .action(async (id: number, options: UsageOptions) => {
      const session = open();
      const answer = await session.api.get(`${PATH}/${String(id)}/usage`, {
        interval: options.interval,
        from: options.from,
        to: options.to,
        group_by: options.groupBy,
        view: options.view,
        application_id: options.application,
        account_id: options.member,
        api_version: options.apiVersion,
      });
      await session.show(answer, () => usageLines(answer.body));
    });
}

function usageLines(body: Row): string[] {
  const columns = GROUP_COLUMNS[String(body['group_by'])];
  const rows = (columns === undefined ? body['buckets'] : body['groups']) as readonly Row[];
  return tableLines([...(columns ?? ['started_at']), ...USAGE_COLUMNS], rows);
}
