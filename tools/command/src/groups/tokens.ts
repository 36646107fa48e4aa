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
  description: 'of one status',
};

const COLUMNS = ['token_id', 'application_id', 'name', 'status', 'issued_at', 'expires_at', 'last_used_at'];

export function tokensGroup(open: Open): Command {
  const group = newGroup('tokens', 'access tokens made by hand');
  addTokenList(group, open);
  addCreate(group, open);
  const token = (name: string, description: string) =>
    group
      .command(name)
      .description(description)
      .argument('<token_id>', 'its id', values.id)
      .requiredOption(APPLICATION, 'of which application', values.id);
  token('copy', 'shows the token itself once more').action(
    async (id: number, { application }: { application: number }) => {
      const session = open();
      await showRecord(session, await session.api.send('POST', `${pathOf(application)}/${String(id)}/copy`));
    },
  );
  addYes(token('revoke', 'kills it')).action(
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
    .description('lists tokens of an application or of an account, newest first')
    .option(APPLICATION, 'of one application', values.id)
    .option('--account <account_id>', 'of all applications of one account', values.id);
  addPaging(command, [STATUS]).action(async ({ application, account, status, ...paging }: ListOptions) => {
    if ((application === undefined) === (account === undefined)) {
      throw usageFault('Name either --application or --account.');
    }
    const path =
      application === undefined ? `/private/accounts/${String(account)}/tokens` : pathOf(application);
    await showList(open(), { path, items: 'tokens', columns: COLUMNS }, { status }, paging);
  });
}

function addCreate(group: Command, open: Open): void {
  group
    .command('create')
    .description('makes a token, which lives for its application’s lifespan')
    .requiredOption(APPLICATION, 'of which application', values.id)
    .requiredOption('--name <name>', 'what it is called')
    .action(async ({ application, name }: { application: number; name: string }) => {
      const session = open();
      await showRecord(session, await session.api.send('POST', pathOf(application), { name }));
    });
}

const pathOf = (application: number) => `/private/applications/${String(application)}/tokens`;
