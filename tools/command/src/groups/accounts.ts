import type { Command } from 'commander';
import { addAction, addGet, addList, addListOf, newGroup, showRecord } from '../commands.ts';
import { tableLines } from '../output.ts';
import type { Row } from '../output.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

const PATH = '/private/accounts';

export function accountsGroup(open: Open): Command {
  const group = newGroup('accounts', 'people who have one, and what they may');
  addList(group, open, {
    description: 'lists accounts, newest first',
    path: PATH,
    items: 'accounts',
    columns: ['account_id', 'email', 'name', 'blocked_at', 'created_at'],
    filters: [
      { parameter: 'email', flags: '--email <address>', description: 'the one with this address' },
      {
        parameter: 'blocked',
        flags: '--blocked <yes|no>',
        description: 'those that are blocked, or those that are not',
        parse: values.yesOrNo,
      },
    ],
  });
  addGet(group, open, { path: PATH, name: 'account_id' });
  group
    .command('create')
    .description('makes an account; its owner sets a password by "forgot password"')
    .requiredOption('--email <address>', 'the owner’s address')
    .requiredOption('--name <name>', 'what the owner is called')
    .action(async ({ email, name }: { email: string; name: string }) => {
      const session = open();
      await showRecord(session, await session.api.send('POST', PATH, { email, name }));
    });
  addAction(group, open, {
    path: PATH,
    id: 'account_id',
    name: 'block',
    description: 'refuses all calls that it makes or pays for, at once',
    question: (id) => `Block account ${String(id)}? Its calls, and those of its team, are refused at once.`,
  });
  addAction(group, open, { path: PATH, id: 'account_id', name: 'unblock', description: 'lifts the block' });
  addUsage(group, open);
  addRefusals(group, open);
  return group;
}

function addRefusals(group: Command, open: Open): void {
  addListOf(group, open, {
    name: 'refusals',
    id: 'account_id',
    description: 'lists data calls of the account that were refused or have failed, newest first',
    pathOf: (id) => `${PATH}/${String(id)}/refusals`,
    items: 'refusals',
    columns: ['at', 'request_id', 'kind', 'code', 'status', 'application_id', 'address', 'detail'],
    filters: [
      { parameter: 'code', flags: '--code <code>', description: 'with one code: points_limit_exceeded, …' },
      {
        parameter: 'application_id',
        flags: '--application <application_id>',
        description: 'of one application',
        parse: values.id,
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
    .description('usage by day or hour, or by who and what used it, of the last 14 months')
    .argument('<account_id>', 'whose', values.id)
    .option('--interval <hour|day>', 'of a bucket (the API takes day)')
    .option('--from <time>', 'not before this time or day', values.time)
    .option('--to <time>', 'before this time, or up to this day', values.time)
    .option('--group-by <what>', 'application, member or api_version: the table then has these, not buckets')
    .option('--view <billed|own>', 'what its periods have paid for, or what it has used itself')
    .option('--application <application_id>', 'of one application', values.id)
    .option('--member <account_id>', 'of one member', values.id)
    .option('--api-version <v1|v2>', 'of one version')
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
