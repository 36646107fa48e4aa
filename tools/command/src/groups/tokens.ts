import type { Command } from 'commander';
import { addPaging, addYes, newGroup, showList, showRecord } from '../commands.ts';
import type { Filter } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { usageFault } from '../failures.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

const APPLICATION = '--application <application_id>';

const STATUS: Filter = {
  parameter: 'status',
  flags: '--status <Active|Expired|Revoked>',
  description: 'filter by status',
};

const COLUMNS = ['token_id', 'application_id', 'name', 'status', 'issued_at', 'expires_at', 'last_used_at'];

export function tokensGroup(open: Open): Command {
  const group = newGroup('tokens', 'Manage manual access tokens');
  addTokenList(group, open);
  addCreate(group, open);
  const token = (name: string, description: string) =>
    group
      .command(name)
      .description(description)
      .argument('<token_id>', 'ID', values.id)
      .requiredOption(APPLICATION, 'application ID', values.id);
  token('copy', 'Show the token value again').action(
    async (id: number, { application }: { application: number }) => {
      const session = open();
      await showRecord(session, await session.api.send('POST', `${pathOf(application)}/${String(id)}/copy`));
    },
  );
  addYes(token('revoke', 'Revoke the token')).action(
    async (id: number, { application, yes }: { application: number; yes?: boolean }) => {
      const session = open();
      await confirm(`Revoke token ${String(id)}? It can't be taken back.`, { yes });
      await showRecord(
        session,
        await session.api.send('POST', `${pathOf(application)}/${String(id)}/revoke`),
      );
    },
  );
  return group;
}

type ListOptions = {
  application?: number;
  account?: number;
  status?: string;
  limit?: number;
  cursor?: string;
  all?: boolean;
};

function addTokenList(group: Command, open: Open): void {
  const command = group
    .command('list')
    .description('List tokens of an application or an account, newest first')
    .option(APPLICATION, 'filter by application', values.id)
    .option('--account <account_id>', 'account ID, for all its applications', values.id);
  addPaging(command, [STATUS]).action(async ({ application, account, status, ...paging }: ListOptions) => {
    if ((application === undefined) === (account === undefined)) {
      throw usageFault('Specify either --application or --account.');
    }
    const path =
      application === undefined ? `/private/accounts/${String(account)}/tokens` : pathOf(application);
    await showList(open(), { path, items: 'tokens', columns: COLUMNS }, { status }, paging);
  });
}

function addCreate(group: Command, open: Open): void {
  group
    .command('create')
    .description('Create a manual token with the application’s token lifespan')
    .requiredOption(APPLICATION, 'application ID', values.id)
    .requiredOption('--name <name>', 'name')
    .action(async ({ application, name }: { application: number; name: string }) => {
      const session = open();
      await showRecord(session, await session.api.send('POST', pathOf(application), { name }));
    });
}

const pathOf = (application: number) => `/private/applications/${String(application)}/tokens`;
