import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Query } from '../api/client.ts';
import { addAction, addGet, addList, addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import type { Open } from '../session.ts';
import { addTeamSlots } from '../team-slots.ts';
import * as values from '../values.ts';

type NewPeriod = { account: number; plan: number; start: string; end: string; teamSlots?: values.OrNone };

export function periodsGroup(open: Open): Command {
  const group = newGroup('periods', 'Manage billing periods');
  addList(group, open, {
    description: 'List billing periods, newest first',
    page: (api: Api, query: Query<'listPeriods'>) =>
      resultOf(api.GET('/private/periods', { params: { query } })),
    itemsOf: ({ periods }) => periods,
    columns: [
      'period_id',
      'account_id',
      'plan_name',
      'status',
      'started_at',
      'ended_at',
      'usage.points',
      'usage.requests',
    ],
    filters: [
      {
        parameter: 'account_id',
        flags: '--account <account_id>',
        description: 'filter by account',
        parse: values.id,
      },
      {
        parameter: 'blocked',
        flags: '--blocked <yes|no>',
        description: 'filter by whether the period itself is blocked',
        parse: values.yesOrNo,
      },
    ],
  });
  addGet(group, open, {
    name: 'period_id',
    get: (api, id) =>
      resultOf(api.GET('/private/periods/{period_id}', { params: { path: { period_id: id } } })),
  });
  addCreate(group, open);
  addUpdate(group, open);
  addAction(group, open, {
    id: 'period_id',
    name: 'end',
    act: (api, id) =>
      resultOf(api.POST('/private/periods/{period_id}/end', { params: { path: { period_id: id } } })),
    description: 'End a manual period immediately, without a grace window',
    question: (id) => `End period ${String(id)} now, without a grace window? It can't be opened again.`,
  });
  addDelete(group, open);
  addAction(group, open, {
    id: 'period_id',
    name: 'block',
    act: (api, id) =>
      resultOf(api.POST('/private/periods/{period_id}/block', { params: { path: { period_id: id } } })),
    description: 'Block a period: refuse all calls billed to it, and do not renew it',
    question: (id) => `Block period ${String(id)}? All calls that are billed to it are refused at once.`,
  });
  addAction(group, open, {
    id: 'period_id',
    name: 'unblock',
    description: 'Unblock',
    act: (api, id) =>
      resultOf(api.POST('/private/periods/{period_id}/unblock', { params: { path: { period_id: id } } })),
  });
  addTeamSlots(group, open, {
    id: 'period_id',
    description: 'Change the team add-on of this period only',
    set: (api, id, body) =>
      resultOf(
        api.POST('/private/periods/{period_id}/team-slots', { params: { path: { period_id: id } }, body }),
      ),
  });
  return group;
}

function addCreate(group: Command, open: Open): void {
  group
    .command('create')
    .description('Create a manual period, such as a trial, a free plan, or a period before a subscription')
    .requiredOption('--account <account_id>', 'ID', values.id)
    .requiredOption('--plan <plan_id>', 'plan ID', values.id)
    .requiredOption('--start <time>', 'start of the period (time or day)', values.firstSecond)
    .requiredOption('--end <time>', 'end of the period (time, or last day)', values.lastSecond)
    .option('--team-slots <number>', 'extra team members, as an add-on', values.wholeNumberOrNone)
    .action(async ({ account, plan, start, end, teamSlots }: NewPeriod) => {
      const session = open();
      const body = values.given({
        account_id: account,
        plan_id: plan,
        started_at: start,
        ended_at: end,
        team_slots_limit: values.nullable(teamSlots),
      });
      await showRecord(session, await resultOf(session.api.POST('/private/periods', { body })));
    });
}

type PeriodChange = { plan?: number; end?: string; yes?: boolean };

function addUpdate(group: Command, open: Open): void {
  const command = group
    .command('update')
    .description('Move the end of the present manual period, or continue it under another plan')
    .argument('<period_id>', 'ID', values.id)
    .option('--plan <plan_id>', 'plan ID; its limits count for the whole period', values.id)
    .option('--end <time>', 'end of the period (time, or last day)', values.lastSecond);
  addYes(command).action(async (period_id: number, { plan, end, yes }: PeriodChange) => {
    const session = open();
    if (plan !== undefined) {
      await confirm(
        `Continue period ${String(period_id)} under plan ${String(plan)}? Its limits count at once.`,
        { yes },
      );
    }
    const params = { path: { period_id } };
    const body = values.given({ plan_id: plan, ended_at: end });
    await showRecord(
      session,
      await resultOf(session.api.PATCH('/private/periods/{period_id}', { params, body })),
    );
  });
}

function addDelete(group: Command, open: Open): void {
  const command = group
    .command('delete')
    .description('Delete a period that has not started')
    .argument('<period_id>', 'ID', values.id);
  addYes(command).action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    await confirm(`Delete period ${String(id)}?`, options);
    await resultOf(
      session.api.DELETE('/private/periods/{period_id}', { params: { path: { period_id: id } } }),
    );
    await session.show(undefined, () => [`Deleted period ${String(id)}.`]);
  });
}
