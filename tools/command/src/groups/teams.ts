import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Query, Schemas } from '../api/client.ts';
import { addAction, addList, addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { recordLines, tableLines } from '../output.ts';
import type { Open, Session } from '../session.ts';
import * as values from '../values.ts';

export function teamsGroup(open: Open): Command {
  const group = newGroup('teams', 'Manage teams and their members');
  addList(group, open, {
    description: 'List teams, newest first',
    page: (api: Api, query: Query<'listTeams'>) => resultOf(api.GET('/private/teams', { params: { query } })),
    itemsOf: ({ teams }) => teams,
    columns: ['team_id', 'name', 'manager_id', 'members_count', 'created_at'],
  });
  addRead(group, open);
  addWrite(group, open);
  addRemove(group, open);
  addSso(group, open);
  return group;
}

function addRead(group: Command, open: Open): void {
  group
    .command('get')
    .description('Show a team and its members')
    .argument('<team_id>', 'ID', values.id)
    .action(async (id: number) => {
      const session = open();
      await showTeam(
        session,
        await resultOf(session.api.GET('/private/teams/{team_id}', { params: { path: { team_id: id } } })),
      );
    });
}

function addWrite(group: Command, open: Open): void {
  group
    .command('create')
    .description('Create a team')
    .requiredOption(
      '--manager <account_id>',
      'account that manages the team and pays for its members',
      values.id,
    )
    .requiredOption('--name <name>', 'name')
    .action(async ({ manager, name }: { manager: number; name: string }) => {
      const session = open();
      await showTeam(
        session,
        await resultOf(session.api.POST('/private/teams', { body: { account_id: manager, name } })),
      );
    });
  group
    .command('add-member')
    .description('Add an account to a team without an invitation')
    .argument('<team_id>', 'ID', values.id)
    .argument('<account_id>', 'account ID', values.id)
    .action(async (id: number, accountId: number) => {
      const session = open();
      const params = { path: { team_id: id } };
      const body = { account_id: accountId };
      await showTeam(
        session,
        await resultOf(session.api.POST('/private/teams/{team_id}/members', { params, body })),
      );
    });
}

function addRemove(group: Command, open: Open): void {
  addYes(
    group
      .command('remove-member')
      .description('Remove a member from a team. The member’s next call is billed to the member')
      .argument('<team_id>', 'ID', values.id)
      .argument('<account_id>', 'account ID', values.id),
  ).action(async (id: number, accountId: number, options: { yes?: boolean }) => {
    const session = open();
    await confirm(`Remove account ${String(accountId)} from team ${String(id)}?`, options);
    const path = { team_id: id, account_id: accountId };
    await resultOf(session.api.DELETE('/private/teams/{team_id}/members/{account_id}', { params: { path } }));
    await session.show(undefined, () => [`Removed account ${String(accountId)} from team ${String(id)}.`]);
  });
  addYes(
    group
      .command('delete')
      .description('Delete a team. Each member’s next call is billed to that member')
      .argument('<team_id>', 'ID', values.id),
  ).action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    await confirm(`Delete team ${String(id)}? All its memberships end.`, options);
    await resultOf(session.api.DELETE('/private/teams/{team_id}', { params: { path: { team_id: id } } }));
    await session.show(undefined, () => [`Deleted team ${String(id)}.`]);
  });
}

function addSso(group: Command, open: Open): void {
  group
    .command('sso')
    .description('Show a team’s identity provider, and why the latest sign-in by it has failed')
    .argument('<team_id>', 'ID', values.id)
    .action(async (id: number) => {
      const session = open();
      const params = { path: { team_id: id } };
      await showRecord(session, await resultOf(session.api.GET('/private/teams/{team_id}/sso', { params })));
    });
  addAction(group, open, {
    id: 'team_id',
    name: 'lift-sso',
    actWithReason: (api, id, header) =>
      resultOf(
        api.DELETE('/private/teams/{team_id}/sso/requirement', { params: { header, path: { team_id: id } } }),
      ),
    description:
      'Lift the requirement of single sign-on for a team that can’t get in, and notify its manager',
    question: (id) =>
      `Lift the requirement of team ${String(id)}? Its members can sign in with passwords afterwards: make sure that it is the manager who asks.`,
  });
}

function showTeam(session: Session, answer: Schemas['OperatedTeam']): Promise<void> {
  return session.show(answer, () => {
    const { members, ...team } = answer;
    return [
      ...recordLines(team),
      '',
      ...tableLines(['account_id', 'name', 'email', 'role', 'joined_at'], members),
    ];
  });
}
