import type { Command } from 'commander';
import type { Answer } from '../api.ts';
import { addList, addYes, newGroup } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { recordLines, tableLines } from '../output.ts';
import type { Row } from '../output.ts';
import type { Open, Session } from '../session.ts';
import * as values from '../values.ts';

const PATH = '/private/teams';

export function teamsGroup(open: Open): Command {
  const group = newGroup('teams', 'who is billed to whom');
  addList(group, open, {
    description: 'lists teams, newest first',
    path: PATH,
    items: 'teams',
    columns: ['team_id', 'name', 'manager_id', 'members_count', 'created_at'],
  });
  addRead(group, open);
  addWrite(group, open);
  addRemove(group, open);
  return group;
}

function addRead(group: Command, open: Open): void {
  group
    .command('get')
    .description('shows one with its members')
    .argument('<team_id>', 'its id', values.id)
    .action(async (id: number) => {
      const session = open();
      await showTeam(session, await session.api.get(`${PATH}/${String(id)}`));
    });
}

function addWrite(group: Command, open: Open): void {
  group
    .command('create')
    .description('makes a team')
    .requiredOption('--manager <account_id>', 'who manages it, and pays for all in it', values.id)
    .requiredOption('--name <name>', 'what it is called')
    .action(async ({ manager, name }: { manager: number; name: string }) => {
      const session = open();
      await showTeam(session, await session.api.send('POST', PATH, { account_id: manager, name }));
    });
  group
    .command('add-member')
    .description('puts an account into it, which is not asked')
    .argument('<team_id>', 'its id', values.id)
    .argument('<account_id>', 'who', values.id)
    .action(async (id: number, accountId: number) => {
      const session = open();
      const path = `${PATH}/${String(id)}/members`;
      await showTeam(session, await session.api.send('POST', path, { account_id: accountId }));
    });
}

function addRemove(group: Command, open: Open): void {
  addYes(
    group
      .command('remove-member')
      .description('takes a member out, who pays alone from the next call on')
      .argument('<team_id>', 'its id', values.id)
      .argument('<account_id>', 'who', values.id),
  ).action(async (id: number, accountId: number, options: { yes?: boolean }) => {
    const session = open();
    await confirm(`Remove account ${String(accountId)} from team ${String(id)}?`, options);
    const answer = await session.api.send('DELETE', `${PATH}/${String(id)}/members/${String(accountId)}`);
    await session.show(answer, () => [`Removed account ${String(accountId)} from team ${String(id)}.`]);
  });
  addYes(
    group
      .command('delete')
      .description('ends it; who was in it pays alone from the next call on')
      .argument('<team_id>', 'its id', values.id),
  ).action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    await confirm(`Delete team ${String(id)}? All its memberships end.`, options);
    const answer = await session.api.send('DELETE', `${PATH}/${String(id)}`);
    await session.show(answer, () => [`Deleted team ${String(id)}.`]);
  });
}

function showTeam(session: Session, answer: Answer): Promise<void> {
  return session.show(answer, () => {
    const { members = [], ...team } = answer.body as { members?: readonly Row[] } & Row;
    return [
      ...recordLines(team),
      '',
      ...tableLines(['account_id', 'name', 'email', 'role', 'joined_at'], members),
    ];
  });
}
