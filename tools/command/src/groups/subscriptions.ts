import { Option } from 'commander';
import type { Command } from 'commander';
import { addAction, addGet, addList, addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import type { Open } from '../session.ts';
import { addTeamSlots } from '../team-slots.ts';
import * as values from '../values.ts';

const PATH = '/private/subscriptions';

export function subscriptionsGroup(open: Open): Command {
  const group = newGroup('subscriptions', 'Manage subscriptions');
  addList(group, open, {
    description: 'List subscriptions, newest first',
    path: PATH,
    items: 'subscriptions',
    columns: [
      'subscription_id',
      'account_id',
      'plan_id',
      'billing_interval',
      'status',
      'renews_at',
      'cancel_at_period_end',
    ],
    filters: [
      {
        parameter: 'account_id',
        flags: '--account <account_id>',
        description: 'filter by account',
        parse: values.id,
      },
      { parameter: 'plan_id', flags: '--plan <plan_id>', description: 'filter by plan', parse: values.id },
      { parameter: 'status', flags: '--status <active|ended>', description: 'filter by status' },
    ],
  });
  addGet(group, open, { path: PATH, name: 'subscription_id' });
  addCreate(group, open);
  addChangePlan(group, open);
  addCancel(group, open);
  const own = { path: PATH, id: 'subscription_id' };
  addAction(group, open, { ...own, name: 'resume', description: 'Undo a scheduled cancellation' });
  addTeamSlots(group, open, { ...own, description: 'Change the team add-on of this and all later periods' });
  return group;
}

type NewSubscription = { account: number; plan: number; interval: string; teamSlots?: values.OrNone };

function addCreate(group: Command, open: Open): void {
  group
    .command('create')
    .description('Subscribe an account to a plan. The first period starts immediately')
    .requiredOption('--account <account_id>', 'account ID', values.id)
    .requiredOption('--plan <plan_id>', 'plan ID', values.id)
    .addOption(intervalOption().default('month'))
    .option('--team-slots <number>', 'extra team members, as an add-on', values.wholeNumberOrNone)
    .action(async ({ account, plan, interval, teamSlots }: NewSubscription) => {
      const session = open();
      const wanted = {
        account_id: account,
        plan_id: plan,
        billing_interval: interval,
        team_slots_limit: values.nullable(teamSlots),
      };
      await showRecord(session, await session.api.send('POST', PATH, wanted));
    });
}

type PlanChange = { plan: number; interval?: string; now?: boolean; yes?: boolean };

function addChangePlan(group: Command, open: Open): void {
  const command = group
    .command('change-plan')
    .description('Change the plan or interval at the end of the period, or immediately with --now')
    .argument('<subscription_id>', 'ID', values.id)
    .requiredOption('--plan <plan_id>', 'plan ID', values.id)
    .addOption(intervalOption())
    .option('--now', 'end the current period and start a new one without usage');
  addYes(command).action(async (id: number, { plan, interval, now = false, yes }: PlanChange) => {
    const session = open();
    if (now)
      await confirm(`End the present period of subscription ${String(id)} for one of plan ${String(plan)}?`, {
        yes,
      });
    const wanted = { plan_id: plan, billing_interval: interval, effective: effectOf(now) };
    await showRecord(session, await session.api.send('POST', `${PATH}/${String(id)}/change-plan`, wanted));
  });
}

function addCancel(group: Command, open: Open): void {
  const command = group
    .command('cancel')
    .description('Cancel at the end of the period, or immediately with --now')
    .argument('<subscription_id>', 'ID', values.id)
    .option('--now', 'also end the period, without a grace window');
  addYes(command).action(async (id: number, { now = false, yes }: { now?: boolean; yes?: boolean }) => {
    const session = open();
    const question = now
      ? `Cancel subscription ${String(id)} and end its period now? It can't be taken back.`
      : `Cancel subscription ${String(id)} at the end of its period?`;
    await confirm(question, { yes });
    const wanted = { effective: effectOf(now) };
    await showRecord(session, await session.api.send('POST', `${PATH}/${String(id)}/cancel`, wanted));
  });
}

const effectOf = (now: boolean) => (now ? 'now' : 'period_end');

function intervalOption(): Option {
  return new Option('--interval <interval>', 'length of its periods').choices(['month', 'year']);
}
