import type { Command } from 'commander';
import { addAction, addGet, addList, addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import type { Open } from '../session.ts';
import { addTeamSlots } from '../team-slots.ts';
import * as values from '../values.ts';

const PATH = '/private/periods';

type NewPeriod = { account: number; plan: number; start: string; end: string; teamSlots?: values.OrNone };

export function periodsGroup(open: Open): Command {
  const group = newGroup('periods', 'billing periods');
  addList(group, open, {
    description: 'lists billing periods, newest first',
    path: PATH,
    items: 'periods',
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
        description: 'of one account',
        parse: values.id,
      },
      {
        parameter: 'blocked',
        flags: '--blocked <yes|no>',
        description: 'those that are blocked themselves, or those that are not',
        parse: values.yesOrNo,
      },
    ],
  });
  addGet(group, open, { path: PATH, name: 'period_id' });
  addCreate(group, open);
  const own = { path: PATH, id: 'period_id' };
  addAction(group, open, {
    ...own,
    name: 'end',
    description: 'ends a period that was made by hand, now and without a grace window',
    question: (id) => `End period ${String(id)} now, without a grace window? It can't be opened again.`,
  });
  addDelete(group, open);
  addAction(group, open, {
    ...own,
    name: 'block',
    description: 'refuses all calls that are billed to it, and does not renew it',
    question: (id) => `Block period ${String(id)}? All calls that are billed to it are refused at once.`,
  });
  addAction(group, open, { ...own, name: 'unblock', description: 'lifts the block' });
  addTeamSlots(group, open, { ...own, description: 'sets the add-on of this period alone' });
  return group;
}

function addCreate(group: Command, open: Open): void {
  group
    .command('create')
    .description('makes a period by hand: a trial, a free plan, or the past beside a subscription')
    .requiredOption('--account <account_id>', 'whose', values.id)
    .requiredOption('--plan <plan_id>', 'of which plan', values.id)
    .requiredOption('--start <time>', 'its first second, or its first day', values.firstSecond)
    .requiredOption('--end <time>', 'its last second, or its last day', values.lastSecond)
    .option('--team-slots <number>', 'people in the team as an add-on', values.wholeNumberOrNone)
    .action(async ({ account, plan, start, end, teamSlots }: NewPeriod) => {
      const session = open();
      const wanted = {
        account_id: account,
        plan_id: plan,
        started_at: start,
        ended_at: end,
        team_slots_limit: values.nullable(teamSlots),
      };
      await showRecord(session, await session.api.send('POST', PATH, wanted));
    });
}

function addDelete(group: Command, open: Open): void {
  const command = group
    .command('delete')
    .description('removes a period that has not started')
    .argument('<period_id>', 'its id', values.id);
  addYes(command).action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    await confirm(`Delete period ${String(id)}?`, options);
    const answer = await session.api.send('DELETE', `${PATH}/${String(id)}`);
    await session.show(answer, () => [`Deleted period ${String(id)}.`]);
  });
}
