import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Query, Schemas } from '../api/client.ts';
import {
  addAction,
  addGet,
  addList,
  addPaging,
  newGroup,
  queryFrom,
  showList,
  showRecord,
} from '../commands.ts';
import type { Filter, ListOptions } from '../commands.ts';
import { tableLines } from '../output.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';
import { addChangeEmail, mailsGroup, sessionsGroup, webhooksGroup } from './account-support.ts';

export function accountsGroup(open: Open): Command {
  const group = newGroup('accounts', 'Manage accounts');
  addList(group, open, {
    description: 'List accounts, newest first',
    page: (api: Api, query: Query<'listAccounts'>) =>
      resultOf(api.GET('/private/accounts', { params: { query } })),
    itemsOf: ({ accounts }) => accounts,
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
  addGet(group, open, {
    name: 'account_id',
    get: (api, id) =>
      resultOf(api.GET('/private/accounts/{account_id}', { params: { path: { account_id: id } } })),
  });
  group
    .command('create')
    .description('Create an account. The owner sets a password with "forgot password"')
    .requiredOption('--email <address>', 'owner’s email address')
    .requiredOption('--name <name>', 'owner’s name')
    .action(async ({ email, name }: { email: string; name: string }) => {
      const session = open();
      await showRecord(
        session,
        await resultOf(session.api.POST('/private/accounts', { body: { email, name } })),
      );
    });
  addAction(group, open, {
    id: 'account_id',
    name: 'block',
    act: (api, id) =>
      resultOf(api.POST('/private/accounts/{account_id}/block', { params: { path: { account_id: id } } })),
    description: 'Block an account: refuse all calls that it makes or pays for, immediately',
    question: (id) => `Block account ${String(id)}? Its calls, and those of its team, are refused at once.`,
  });
  addAction(group, open, {
    id: 'account_id',
    name: 'unblock',
    description: 'Unblock',
    act: (api, id) =>
      resultOf(api.POST('/private/accounts/{account_id}/unblock', { params: { path: { account_id: id } } })),
  });
  addAction(group, open, {
    id: 'account_id',
    name: 'reset-two-factor',
    actWithReason: (api, id, header) =>
      resultOf(
        api.POST('/private/accounts/{account_id}/reset-two-factor', {
          params: { header, path: { account_id: id } },
        }),
      ),
    description: 'Turn off two-factor authentication for an owner who has lost all factors, and notify them',
    question: (id) =>
      `Reset two-factor authentication of account ${String(id)}? Its password is enough to sign in afterwards: make sure that it is the owner who asks.`,
  });
  addChangeEmail(group, open);
  group.addCommand(sessionsGroup(open));
  group.addCommand(mailsGroup(open));
  group.addCommand(webhooksGroup(open));
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
      await showRecord(
        session,
        await resultOf(
          session.api.GET('/private/accounts/{account_id}/deletion', {
            params: { path: { account_id: id } },
          }),
        ),
      );
    });
  addAction(group, open, {
    id: 'account_id',
    name: 'cancel',
    act: (api, id) =>
      resultOf(
        api.POST('/private/accounts/{account_id}/deletion/cancel', { params: { path: { account_id: id } } }),
      ),
    description: 'Cancel a deletion, and notify the owner. Revoked applications and tokens stay revoked',
    question: (id) => `Cancel the deletion of account ${String(id)}?`,
  });
  addAction(group, open, {
    id: 'account_id',
    name: 'carry-out',
    actWithReason: (api, id, header) =>
      resultOf(
        api.POST('/private/accounts/{account_id}/deletion/carry-out', {
          params: { header, path: { account_id: id } },
        }),
      ),
    description: 'Erase the account now instead of at the end of the grace, and notify the owner',
    question: (id) =>
      `Erase account ${String(id)} now? Its personal data cannot be restored, and its owner can no longer cancel.`,
  });
  return group;
}

const REFUSAL_FILTERS: readonly Filter<Query<'listRefusals'>>[] = [
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
];

function addRefusals(group: Command, open: Open): void {
  const command = group
    .command('refusals')
    .description('List the account’s refused and failed data calls, newest first')
    .argument('<account_id>', 'ID', values.id);
  addPaging(command, REFUSAL_FILTERS).action(async (account_id: number, options: ListOptions) => {
    await showList(
      open(),
      {
        page: (api: Api, query: Query<'listRefusals'>) =>
          resultOf(
            api.GET('/private/accounts/{account_id}/refusals', { params: { path: { account_id }, query } }),
          ),
        itemsOf: ({ refusals }) => refusals,
        columns: ['at', 'request_id', 'kind', 'code', 'status', 'application_id', 'address', 'detail'],
      },
      queryFrom(options, REFUSAL_FILTERS),
      options,
    );
  });
}

type UsageQuery = Query<'getUsageOverTime'>;

type UsageOptions = Pick<UsageQuery, 'interval' | 'from' | 'to' | 'view'> & {
  groupBy?: UsageQuery['group_by'];
  apiVersion?: UsageQuery['api_version'];
  application?: number;
  member?: number;
};

type UsageAnswer = Schemas['UsageByTime' | 'UsageByApplication' | 'UsageByMember' | 'UsageByApiVersion'];

const USAGE_COLUMNS = (['points', 'requests', 'time_sec', 'traffic_bytes'] as const).map(
  (counter) => `usage.${counter}_usage` as const,
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
      const query = values.given({
        interval: options.interval,
        from: options.from,
        to: options.to,
        group_by: options.groupBy,
        view: options.view,
        application_id: options.application,
        account_id: options.member,
        api_version: options.apiVersion,
      });
      const path = { account_id: id };
      const answer = await resultOf(
        session.api.GET('/private/accounts/{account_id}/usage', { params: { path, query } }),
      );
      await session.show(answer, () => usageLines(answer));
    });
}

/** Of what is asked for by `--group-by`, beside what it has used; else of time. */
function usageLines(answer: UsageAnswer): string[] {
  switch (answer.group_by) {
    case 'application':
      return tableLines(['application_id', 'name', 'status', ...USAGE_COLUMNS], answer.groups);
    case 'member':
      return tableLines(['account_id', 'name', 'email', ...USAGE_COLUMNS], answer.groups);
    case 'api_version':
      return tableLines(['api_version', ...USAGE_COLUMNS], answer.groups);
    case 'none':
      return tableLines(['started_at', ...USAGE_COLUMNS], answer.buckets);
  }
}
