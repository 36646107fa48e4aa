import { Option } from 'commander';
import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Body, Query } from '../api/client.ts';
import { addAction, addGet, addList, addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

export function applicationsGroup(open: Open): Command {
  const group = newGroup('applications', 'Manage applications (OAuth clients)');
  addList(group, open, {
    description: 'List applications, newest first',
    page: (api: Api, query: Query<'listApplications'>) =>
      resultOf(api.GET('/private/applications', { params: { query } })),
    itemsOf: ({ applications }) => applications,
    columns: ['application_id', 'account_id', 'name', 'type', 'status', 'client_id', 'token_lifespan_label'],
    filters: [
      {
        parameter: 'account_id',
        flags: '--account <account_id>',
        description: 'filter by account',
        parse: values.id,
      },
      { parameter: 'status', flags: '--status <active|revoked>', description: 'filter by status' },
      { parameter: 'type', flags: '--type <automatic|manual|authorization>', description: 'filter by type' },
    ],
  });
  addGet(group, open, {
    name: 'application_id',
    get: (api, id) =>
      resultOf(
        api.GET('/private/applications/{application_id}', { params: { path: { application_id: id } } }),
      ),
  });
  addCreate(group, open);
  addUpdate(group, open);
  addRotateSecret(group, open);
  addAction(group, open, {
    id: 'application_id',
    name: 'end-previous-secret',
    act: (api, application_id) =>
      resultOf(
        api.DELETE('/private/applications/{application_id}/previous-secret', {
          params: { path: { application_id } },
        }),
      ),
    description: 'End the secret that a rotation has left valid, before its time',
    question: (id) => `End the previous secret of application ${String(id)}? Who still uses it is refused.`,
  });
  addAction(group, open, {
    id: 'application_id',
    name: 'revoke',
    act: (api, id) =>
      resultOf(
        api.POST('/private/applications/{application_id}/revoke', {
          params: { path: { application_id: id } },
        }),
      ),
    description: 'Revoke an application with its tokens and secrets. rotate-secret reactivates it',
    question: (id) => `Revoke application ${String(id)}? All its tokens and secrets are dead at once.`,
  });
  addVerify(group, open);
  addAction(group, open, {
    id: 'application_id',
    name: 'end-verification',
    act: (api, id) =>
      resultOf(
        api.DELETE('/private/applications/{application_id}/verification', {
          params: { path: { application_id: id } },
        }),
      ),
    description: 'End the verification of an application',
  });
  addDelete(group, open);
  return group;
}

type NewApplication = {
  account: number;
  name: string;
  type: Body<'createApplication'>['type'];
  lifespanSec: number;
};

function addCreate(group: Command, open: Open): void {
  group
    .command('create')
    .description('Create an application. The client secret is shown only once')
    .requiredOption('--account <account_id>', 'ID', values.id)
    .requiredOption('--name <name>', 'name')
    .addOption(
      new Option('--type <type>', 'grant: client credentials, or manual tokens only')
        .choices(['automatic', 'manual'])
        .default('automatic'),
    )
    .option('--lifespan-sec <seconds>', 'lifespan of its tokens', values.wholeNumber, 86_400)
    .action(async ({ account, name, type, lifespanSec }: NewApplication) => {
      const session = open();
      const body = { account_id: account, name, type, token_lifespan_sec: lifespanSec };
      await showRecord(session, await resultOf(session.api.POST('/private/applications', { body })));
    });
}

function addUpdate(group: Command, open: Open): void {
  group
    .command('update')
    .description('Update an application. Existing tokens keep their lifespan')
    .argument('<application_id>', 'ID', values.id)
    .option('--name <name>', 'name')
    .option('--lifespan-sec <seconds>', 'lifespan of new tokens', values.wholeNumber)
    .action(async (id: number, { name, lifespanSec }: { name?: string; lifespanSec?: number }) => {
      const session = open();
      const body = values.given({ name, token_lifespan_sec: lifespanSec });
      await showRecord(
        session,
        await resultOf(
          session.api.PATCH('/private/applications/{application_id}', {
            params: { path: { application_id: id } },
            body,
          }),
        ),
      );
    });
}

function addRotateSecret(group: Command, open: Open): void {
  const command = group
    .command('rotate-secret')
    .description('Create a new client secret. It is shown only once')
    .argument('<application_id>', 'ID', values.id)
    .option(
      '--overlap-sec <seconds>',
      'time that the old secret stays valid, up to 7 days',
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
    const params = { path: { application_id: id } };
    const body = { overlap_sec: overlapSec };
    await showRecord(
      session,
      await resultOf(
        session.api.POST('/private/applications/{application_id}/rotate-secret', { params, body }),
      ),
    );
  });
}

/** Verifies what it has shown: an application that is different by then isn't verified. */
function addVerify(group: Command, open: Open): void {
  const command = group
    .command('verify')
    .description('Verify an application that acts for other people, who read so on the consent page')
    .argument('<application_id>', 'ID', values.id);
  addYes(command).action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    const header = session.needReason();
    const path = { application_id: id };
    const { api } = session;
    const { account_id, name, redirect_uris } = await resultOf(
      api.GET('/private/applications/{application_id}', { params: { path } }),
    );
    const body = { name, developer: await developerOf(api, account_id), redirect_uris };
    const shown = JSON.stringify(body, undefined, 2);
    await confirm(
      `${shown}\nVerify application ${String(id)} with this name, account and addresses?`,
      options,
    );
    const params = { path, header };
    await showRecord(
      session,
      await resultOf(api.POST('/private/applications/{application_id}/verify', { params, body })),
    );
  });
}

/** The name of its account; null of one that has registered itself. */
async function developerOf(api: Api, account_id: number | null): Promise<string | null> {
  if (account_id === null) return null;
  const params = { path: { account_id } };
  return (await resultOf(api.GET('/private/accounts/{account_id}', { params }))).name;
}

function addDelete(group: Command, open: Open): void {
  const command = group
    .command('delete')
    .description('Delete an application permanently, and revoke its tokens. The audit log keeps its entries')
    .argument('<application_id>', 'ID', values.id);
  addYes(command).action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    await confirm(`Delete application ${String(id)} with all its tokens? It can't be taken back.`, options);
    await resultOf(
      session.api.DELETE('/private/applications/{application_id}', {
        params: { path: { application_id: id } },
      }),
    );
    await session.show(undefined, () => [`Deleted application ${String(id)}.`]);
  });
}
