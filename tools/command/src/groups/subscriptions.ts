import { Option } from 'commander';
import type { Command } from 'commander';
import { addAction, addGet, addList, addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import type { Open } from '../session.ts';
import { addTeamSlots } from '../team-slots.ts';
import * as values from '../values.ts';

const PATH = '/private/subscriptions';

export function subscriptionsGroup(open: Open): Command {
  const group = newGroup('subscriptions', 'who gets one billing period after another');
  addList(group, open, {
    description: 'lists subscriptions, newest first',
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
        description: 'of one account',
        parse: values.id,
      },
      { parameter: 'plan_id', flags: '--plan <plan_id>', description: 'of one plan', parse: values.id },
      { parameter: 'status', flags: '--status <active|ended>', description: 'of one status' },
    ],
  });
  addGet(group, open, { path: PATH, name: 'subscription_id' });
  addCreate(group, open);
  addChangePlan(group, open);
  addCancel(group, open);
  const own = { path: PATH, id: 'subscription_id' };
  addAction(group, open, { ...own, name: 'resume', description: 'takes a planned cancellation back' });
  addTeamSlots(group, open, { ...own, description: 'sets the add-on of this period and all that follow' });
  return group;
}

type NewSubscription = { account: number; plan: number; interval: string; teamSlots?: values.OrNone };

function addCreate(group: Command, open: Open): void {
  group
    .command('create')
    .description('sells a plan; its first period begins at once')
    .requiredOption('--account <account_id>', 'to whom', values.id)
    .requiredOption('--plan <plan_id>', 'which plan', values.id)
    .addOption(intervalOption().default('month'))
    .option('--team-slots <number>', 'people in the team as an add-on', values.wholeNumberOrNone)
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
    .description('another plan or interval, at the period’s end unless --now')
    .argument('<subscription_id>', 'its id', values.id)
    .requiredOption('--plan <plan_id>', 'which plan', values.id)
    .addOption(intervalOption())
    .option('--now', 'ends the present period, and begins another without usage');
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
    .description('renews it no more; the period runs out unless --now')
    .argument('<subscription_id>', 'its id', values.id)
    .option('--now', 'ends the period too, without a grace window');
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
  return new Option('--interval <interval>', 'how long its periods are').choices(['month', 'year']);
}
