import { Option } from 'commander';
import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Body, Query } from '../api/client.ts';
import { addAction, addGet, addList, addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import type { Open } from '../session.ts';
import { addTeamSlots } from '../team-slots.ts';
import * as values from '../values.ts';

type Interval = Body<'createSubscription'>['billing_interval'];

export function subscriptionsGroup(open: Open): Command {
  const group = newGroup('subscriptions', 'Manage subscriptions');
  addList(group, open, {
    description: 'List subscriptions, newest first',
    page: (api: Api, query: Query<'listSubscriptions'>) =>
      resultOf(api.GET('/private/subscriptions', { params: { query } })),
    itemsOf: ({ subscriptions }) => subscriptions,
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
  addGet(group, open, {
    name: 'subscription_id',
    get: (api, id) =>
      resultOf(
        api.GET('/private/subscriptions/{subscription_id}', { params: { path: { subscription_id: id } } }),
      ),
  });
  addCreate(group, open);
  addChangePlan(group, open);
  addCancel(group, open);
  addAction(group, open, {
    id: 'subscription_id',
    name: 'resume',
    description: 'Undo a scheduled cancellation',
    act: (api, id) =>
      resultOf(
        api.POST('/private/subscriptions/{subscription_id}/resume', {
          params: { path: { subscription_id: id } },
        }),
      ),
  });
  addTeamSlots(group, open, {
    id: 'subscription_id',
    description: 'Change the team add-on of this and all later periods',
    set: (api, id, body) =>
      resultOf(
        api.POST('/private/subscriptions/{subscription_id}/team-slots', {
          params: { path: { subscription_id: id } },
          body,
        }),
      ),
  });
  return group;
}

type NewSubscription = { account: number; plan: number; interval: Interval; teamSlots?: values.OrNone };

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
      const body = values.given({
        account_id: account,
        plan_id: plan,
        billing_interval: interval,
        team_slots_limit: values.nullable(teamSlots),
      });
      await showRecord(session, await resultOf(session.api.POST('/private/subscriptions', { body })));
    });
}

type PlanChange = { plan: number; interval?: Interval; now?: boolean; keepUsage?: boolean; yes?: boolean };

function addChangePlan(group: Command, open: Open): void {
  const command = group
    .command('change-plan')
    .description('Change the plan or interval at the end of the period, or immediately with --now')
    .argument('<subscription_id>', 'ID', values.id)
    .requiredOption('--plan <plan_id>', 'plan ID', values.id)
    .addOption(intervalOption())
    .option('--now', 'end the current period and start a new one without usage')
    .option('--keep-usage', 'with --now: continue the current period under the new plan');
  addYes(command).action(async (id: number, change: PlanChange) => {
    const { plan, interval, now = false, keepUsage = false, yes } = change;
    const session = open();
    const what = keepUsage ? 'Change the present period' : 'End the present period';
    const to = keepUsage ? `to plan ${String(plan)}` : `for one of plan ${String(plan)}`;
    if (now) await confirm(`${what} of subscription ${String(id)} ${to}?`, { yes });
    const body = values.given({
      plan_id: plan,
      billing_interval: interval,
      effective: effectOf(now),
      usage: keepUsage ? ('keep' as const) : undefined,
    });
    await showRecord(
      session,
      await resultOf(
        session.api.POST('/private/subscriptions/{subscription_id}/change-plan', {
          params: { path: { subscription_id: id } },
          body,
        }),
      ),
    );
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
    const body = { effective: effectOf(now) };
    await showRecord(
      session,
      await resultOf(
        session.api.POST('/private/subscriptions/{subscription_id}/cancel', {
          params: { path: { subscription_id: id } },
          body,
        }),
      ),
    );
  });
}

const effectOf = (now: boolean): Body<'cancelSubscription'>['effective'] => (now ? 'now' : 'period_end');

function intervalOption(): Option {
  return new Option('--interval <interval>', 'length of its periods').choices(['month', 'year']);
}
