import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Query } from '../api/client.ts';
import { addPaging, addYes, newGroup, queryFrom, showList, showRecord } from '../commands.ts';
import type { ListOptions } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { tableLines } from '../output.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

/** What support does for the owner of one account: `tollgate accounts sessions|mails|webhooks …`. */

type Yes = { yes?: boolean };

/** Where an owner is signed in. */
export function sessionsGroup(open: Open): Command {
  const group = newGroup('sessions', 'Manage where account owners are signed in');
  group
    .command('list')
    .description('List the sessions of an account, newest first')
    .argument('<account_id>', 'ID', values.id)
    .action(async (account_id: number) => {
      const session = open();
      const params = { path: { account_id } };
      const answer = await resultOf(session.api.GET('/private/accounts/{account_id}/sessions', { params }));
      await session.show(answer, () => tableLines(SESSION_COLUMNS, answer.sessions));
    });
  const end = group
    .command('end')
    .description('End one session of an account, or all, and the temporary token')
    .argument('<account_id>', 'ID', values.id)
    .argument('[session_id]', 'ID; without it, all sessions end', values.id);
  addYes(end).action(async (account_id: number, session_id: number | undefined, options: Yes) => {
    const session = open();
    const what = session_id === undefined ? 'all sessions' : `session ${String(session_id)}`;
    await confirm(`End ${what} of account ${String(account_id)}?`, options);
    await resultOf(
      session_id === undefined
        ? session.api.DELETE('/private/accounts/{account_id}/sessions', { params: { path: { account_id } } })
        : session.api.DELETE('/private/accounts/{account_id}/sessions/{session_id}', {
            params: { path: { account_id, session_id } },
          }),
    );
    await session.show(undefined, () => [`Ended ${what} of account ${String(account_id)}.`]);
  });
  return group;
}

const SESSION_COLUMNS = ['session_id', 'created_at', 'last_seen_at', 'address', 'user_agent'] as const;

/** Mails that were sent to an owner's present address. */
export function mailsGroup(open: Open): Command {
  const group = newGroup('mails', 'List mails to account owners, and send them again');
  const list = group
    .command('list')
    .description('List mails to the present address of an account, newest first')
    .argument('<account_id>', 'ID', values.id);
  addPaging<Query<'listAccountMails'>>(list, []).action(async (account_id: number, options: ListOptions) => {
    await showList(
      open(),
      {
        page: (api: Api, query: Query<'listAccountMails'>) =>
          resultOf(
            api.GET('/private/accounts/{account_id}/mails', { params: { path: { account_id }, query } }),
          ),
        itemsOf: ({ mails }) => mails,
        columns: ['mail_id', 'kind', 'state', 'requested_at', 'ended_at'],
      },
      queryFrom(options, []),
      options,
    );
  });
  group
    .command('send-again')
    .description('Send a mail again, with text and links made anew')
    .argument('<account_id>', 'ID', values.id)
    .argument('<mail_id>', 'ID', values.id)
    .action(async (account_id: number, mail_id: number) => {
      const session = open();
      const params = { path: { account_id, mail_id } };
      await showRecord(
        session,
        await resultOf(
          session.api.POST('/private/accounts/{account_id}/mails/{mail_id}/send-again', { params }),
        ),
      );
    });
  return group;
}

export function webhooksGroup(open: Open): Command {
  const group = newGroup('webhooks', 'List webhooks of accounts, and send their events again');
  group
    .command('list')
    .description('List the webhooks of an account, newest first. Of addresses, only the server is shown')
    .argument('<account_id>', 'ID', values.id)
    .action(async (account_id: number) => {
      const session = open();
      const params = { path: { account_id } };
      const answer = await resultOf(session.api.GET('/private/accounts/{account_id}/webhooks', { params }));
      await session.show(answer, () => tableLines(WEBHOOK_COLUMNS, answer.webhooks));
    });
  const deliveries = group
    .command('deliveries')
    .description('List deliveries to the webhooks of an account, newest first')
    .argument('<account_id>', 'ID', values.id);
  addPaging<Query<'listAccountWebhookDeliveries'>>(deliveries, []).action(
    async (account_id: number, options: ListOptions) => {
      await showList(
        open(),
        {
          page: (api: Api, query: Query<'listAccountWebhookDeliveries'>) =>
            resultOf(
              api.GET('/private/accounts/{account_id}/webhook-deliveries', {
                params: { path: { account_id }, query },
              }),
            ),
          itemsOf: ({ deliveries: items }) => items,
          columns: [
            'delivery_id',
            'webhook_id',
            'event_type',
            'status',
            'attempts',
            'response_status',
            'created_at',
            'next_attempt_at',
          ],
        },
        queryFrom(options, []),
        options,
      );
    },
  );
  group
    .command('send-again')
    .description('Send a delivery again at once, with the same webhook-id')
    .argument('<account_id>', 'ID', values.id)
    .argument('<webhook_id>', 'ID', values.id)
    .argument('<delivery_id>', 'ID', values.id)
    .action(async (account_id: number, webhook_id: number, delivery_id: number) => {
      const session = open();
      const params = { path: { account_id, webhook_id, delivery_id } };
      const path = '/private/accounts/{account_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry';
      await showRecord(session, await resultOf(session.api.POST(path, { params })));
    });
  return group;
}

const WEBHOOK_COLUMNS = [
  'webhook_id',
  'url',
  'enabled',
  'disabled_reason',
  'failing_since',
  'created_at',
] as const;

export function addChangeEmail(group: Command, open: Open): void {
  const command = group
    .command('change-email')
    .description('Mail a link to another address, which the account gets once the link is used')
    .argument('<account_id>', 'ID', values.id)
    .requiredOption('--email <address>', 'the new address');
  addYes(command).action(async (account_id: number, { email, yes }: Yes & { email: string }) => {
    const session = open();
    const header = session.needReason();
    await confirm(
      `Have ${email} confirmed for account ${String(account_id)}? Its sessions end: make sure that it is the owner who asks.`,
      { yes },
    );
    const params = { header, path: { account_id } };
    await showRecord(
      session,
      await resultOf(session.api.POST('/private/accounts/{account_id}/email', { params, body: { email } })),
    );
  });
}
