import { Option } from 'commander';
import type { Command } from 'commander';
import { OPERATOR_ROLES } from '@tollgate/contracts/operator-roles';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { resultOf } from '../api/client.ts';
import type { Api, Query } from '../api/client.ts';
import { addList, addYes, newGroup } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { recordLines } from '../output.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

export function operatorsGroup(open: Open): Command {
  const group = newGroup('operators', 'Manage who can sign in to the operators’ console');
  addList(group, open, {
    description: 'List operators, newest first',
    page: (api: Api, query: Query<'listOperators'>) =>
      resultOf(api.GET('/private/operators', { params: { query } })),
    itemsOf: ({ operators }) => operators,
    columns: ['operator_id', 'name', 'email', 'local_role', 'has_passkey', 'last_seen_at'],
  });
  group
    .command('create')
    .description('Create an operator, and print the link at which they create their passkey')
    .requiredOption('--name <name>', 'name')
    .requiredOption('--email <email>', 'email address')
    .addOption(new Option('--role <role>', 'role').choices(OPERATOR_ROLES).makeOptionMandatory())
    .action(async (body: { name: string; email: string; role: OperatorRole }) => {
      const session = open();
      const made = await resultOf(session.api.POST('/private/operators', { body }));
      await session.show(made, () => [...recordLines(made.operator), '', ...enrolmentLines(made.enrolment)]);
    });
  group
    .command('enrol')
    .description('Print another enrolment link for an operator without a passkey; the one before ends')
    .argument('<operator_id>', 'ID', values.id)
    .action(async (id: number) => {
      const session = open();
      const link = await resultOf(
        session.api.POST('/private/operators/{operator_id}/enrolment-link', {
          params: { path: { operator_id: id } },
        }),
      );
      await session.show(link, () => enrolmentLines(link));
    });
  addYes(
    group
      .command('remove')
      .description('Remove an operator: their sessions end, and their passkeys no longer work')
      .argument('<operator_id>', 'ID', values.id),
  ).action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    const header = session.needReason();
    await confirm(`Remove operator ${String(id)}?`, options);
    await resultOf(
      session.api.DELETE('/private/operators/{operator_id}', {
        params: { header, path: { operator_id: id } },
      }),
    );
    await session.show(undefined, () => [`Removed operator ${String(id)}.`]);
  });
  return group;
}

function enrolmentLines({ url, expires_at }: { url: string; expires_at: string }): string[] {
  return [`Passkey enrolment, once, until ${expires_at}:`, url];
}
