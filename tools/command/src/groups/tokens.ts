import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Query, Schemas } from '../api/client.ts';
import { addPaging, addYes, newGroup, showList, showRecord } from '../commands.ts';
import type { Filter } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { usageFault } from '../failures.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

const APPLICATION = '--application <application_id>';

type TokenQuery = Query<'listTokens' | 'listApplicationTokens'>;

const STATUS: Filter<TokenQuery> = {
  parameter: 'status',
  flags: '--status <Active|Expired|Revoked>',
  description: 'filter by status',
};

const COLUMNS = [
  'token_id',
  'application_id',
  'name',
  'status',
  'issued_at',
  'expires_at',
  'last_used_at',
] as const;

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
      const path = { application_id: application, token_id: id };
      await showRecord(
        session,
        await resultOf(
          session.api.POST('/private/applications/{application_id}/tokens/{token_id}/copy', {
            params: { path },
          }),
        ),
      );
    },
  );
  addYes(token('revoke', 'Revoke the token')).action(
    async (id: number, { application, yes }: { application: number; yes?: boolean }) => {
      const session = open();
      await confirm(`Revoke token ${String(id)}? It can't be taken back.`, { yes });
      const path = { application_id: application, token_id: id };
      await showRecord(
        session,
        await resultOf(
          session.api.POST('/private/applications/{application_id}/tokens/{token_id}/revoke', {
            params: { path },
          }),
        ),
      );
    },
  );
  return group;
}

type ListOptions = {
  application?: number;
  account?: number;
  status?: NonNullable<TokenQuery['status']>;
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
    const query = values.given({ status });
    if (application !== undefined && account === undefined) {
      await showList(open(), tokensOfApplication(application), query, paging);
    } else if (account !== undefined && application === undefined) {
      await showList(open(), tokensOfAccount(account), query, paging);
    } else throw usageFault('Specify either --application or --account.');
  });
}

const tokensOfApplication = (application_id: number) => ({
  page: (api: Api, query: Query<'listApplicationTokens'>) =>
    resultOf(
      api.GET('/private/applications/{application_id}/tokens', {
        params: { path: { application_id }, query },
      }),
    ),
  itemsOf: ({ tokens }: { tokens: Schemas['Token'][] }) => tokens,
  columns: COLUMNS,
});

const tokensOfAccount = (account_id: number) => ({
  page: (api: Api, query: Query<'listTokens'>) =>
    resultOf(api.GET('/private/accounts/{account_id}/tokens', { params: { path: { account_id }, query } })),
  itemsOf: ({ tokens }: { tokens: Schemas['AccountToken'][] }) => tokens,
  columns: COLUMNS,
});

function addCreate(group: Command, open: Open): void {
  group
    .command('create')
    .description('Create a manual token with the application’s token lifespan')
    .requiredOption(APPLICATION, 'application ID', values.id)
    .requiredOption('--name <name>', 'name')
    .action(async ({ application, name }: { application: number; name: string }) => {
      const session = open();
      await showRecord(
        session,
        await resultOf(
          session.api.POST('/private/applications/{application_id}/tokens', {
            params: { path: { application_id: application } },
            body: { name },
          }),
        ),
      );
    });
}
