import type { Command } from 'commander';
import { addAction, addGet, addList, newGroup, showRecord } from '../commands.ts';
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
  return group;
}
