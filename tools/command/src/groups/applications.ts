import { Option } from 'commander';
import type { Command } from 'commander';
import { addAction, addGet, addList, addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

const PATH = '/private/applications';

export function applicationsGroup(open: Open): Command {
  const group = newGroup('applications', 'OAuth clients');
  addList(group, open, {
    description: 'lists applications, newest first',
    path: PATH,
    items: 'applications',
    columns: ['application_id', 'account_id', 'name', 'type', 'status', 'client_id', 'token_lifespan_label'],
    filters: [
      {
        parameter: 'account_id',
        flags: '--account <account_id>',
        description: 'of one account',
        parse: values.id,
      },
      { parameter: 'status', flags: '--status <active|revoked>', description: 'of one status' },
      { parameter: 'type', flags: '--type <automatic|manual>', description: 'of one type' },
    ],
  });
  addGet(group, open, { path: PATH, name: 'application_id' });
  addCreate(group, open);
  addUpdate(group, open);
  addRotateSecret(group, open);
  addAction(group, open, {
    path: PATH,
    id: 'application_id',
    name: 'revoke',
    description: 'kills its tokens and its secrets; rotate-secret brings it back, without them',
    question: (id) => `Revoke application ${String(id)}? All its tokens and secrets are dead at once.`,
  });
  addDelete(group, open);
  return group;
}

type NewApplication = { account: number; name: string; type: string; lifespanSec: number };

function addCreate(group: Command, open: Open): void {
  group
    .command('create')
    .description('makes an application; its client secret is shown here and never again')
    .requiredOption('--account <account_id>', 'whose', values.id)
    .requiredOption('--name <name>', 'what it is called')
    .addOption(
      new Option('--type <type>', 'with client credentials, or with tokens made by hand only')
        .choices(['automatic', 'manual'])
        .default('automatic'),
    )
    .option('--lifespan-sec <seconds>', 'how long its tokens live', values.wholeNumber, 86_400)
    .action(async ({ account, name, type, lifespanSec }: NewApplication) => {
      const session = open();
      const wanted = { account_id: account, name, type, token_lifespan_sec: lifespanSec };
      await showRecord(session, await session.api.send('POST', PATH, wanted));
    });
}

function addUpdate(group: Command, open: Open): void {
  group
    .command('update')
    .description('changes what is named; tokens that there are keep their lifespan')
    .argument('<application_id>', 'its id', values.id)
    .option('--name <name>', 'what it is called')
    .option('--lifespan-sec <seconds>', 'how long its tokens to come live', values.wholeNumber)
    .action(async (id: number, { name, lifespanSec }: { name?: string; lifespanSec?: number }) => {
      const session = open();
      const wanted = { name, token_lifespan_sec: lifespanSec };
      await showRecord(session, await session.api.send('PATCH', `${PATH}/${String(id)}`, wanted));
    });
}

function addRotateSecret(group: Command, open: Open): void {
  const command = group
    .command('rotate-secret')
    .description('a new client secret, which is shown here and never again')
    .argument('<application_id>', 'its id', values.id)
    .option(
      '--overlap-sec <seconds>',
      'how long the old one stays good, up to 7 days',
      values.wholeNumber,
      0,
    );
  addYes(command).action(async (id: number, { overlapSec, yes }: { overlapSec: number; yes?: boolean }) => {
    const session = open();
    if (overlapSec === 0) {
      await confirm(`Exchange the secret of application ${String(id)}? The old one is no good from now on.`, {
        yes,
      });
    }
    const path = `${PATH}/${String(id)}/rotate-secret`;
    await showRecord(session, await session.api.send('POST', path, { overlap_sec: overlapSec }));
  });
}

function addDelete(group: Command, open: Open): void {
  const command = group
    .command('delete')
    .description('as revoke, and it is gone for good but for the audit log')
    .argument('<application_id>', 'its id', values.id);
  addYes(command).action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    await confirm(`Delete application ${String(id)} with all its tokens? It can't be taken back.`, options);
    const answer = await session.api.send('DELETE', `${PATH}/${String(id)}`);
    await session.show(answer, () => [`Deleted application ${String(id)}.`]);
  });
}
