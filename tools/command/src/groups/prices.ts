import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Body } from '../api/client.ts';
import { addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { tableLines } from '../output.ts';
import { byRootFields, ratioOf } from '../price-comparison.ts';
import type { ComparedFields, ComparedOperation } from '../price-comparison.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

type Interval = 'month' | 'year';

const COLUMNS = [
  'plan_id',
  'billing_interval',
  'currency',
  'unit_amount',
  'tax_behavior',
  'stripe_price_id',
] as const;

export function pricesGroup(open: Open): Command {
  const group = newGroup('prices', 'Manage what new subscribers pay for plans');
  addList(group, open);
  addSet(group, open);
  addArchive(group, open);
  addCompare(group, open);
  return group;
}

function addList(group: Command, open: Open): void {
  group
    .command('list')
    .description('List the prices of all plans, or of their team slots')
    .addOption(teamSlotOption())
    .action(async ({ teamSlot = false }: OfTeamSlot) => {
      const session = open();
      if (teamSlot) {
        const listed = await resultOf(session.api.GET('/private/team-slot-prices'));
        await session.show(listed, () => tableLines(COLUMNS, listed.team_slot_prices));
        return;
      }
      const listed = await resultOf(session.api.GET('/private/plan-prices'));
      await session.show(listed, () => tableLines(COLUMNS, listed.plan_prices));
    });
}

type OfTeamSlot = { teamSlot?: boolean };

type NewPrice = OfTeamSlot & { currency: string; amount: number; tax?: Body<'setPlanPrice'>['tax_behavior'] };

function addSet(group: Command, open: Open): void {
  group
    .command('set')
    .description('Set the price of a plan for an interval, or of its team slots. Subscribers keep theirs')
    .argument('<plan_id>', 'ID', values.id)
    .addArgument(intervalArgument())
    .requiredOption('--currency <currency>', 'lowercase code, such as eur')
    .requiredOption(
      '--amount <number>',
      "in the currency's minor unit, as Stripe writes it",
      values.wholeNumber,
    )
    .addOption(
      new Option('--tax <behavior>', 'whether tax is added to the price or included in it').choices([
        'exclusive',
        'inclusive',
      ]),
    )
    .addOption(teamSlotOption())
    .action(async (plan_id: number, billing_interval: Interval, wanted: NewPrice) => {
      const session = open();
      const { currency, amount, tax, teamSlot = false } = wanted;
      const params = { path: { plan_id, billing_interval } };
      const body = values.given({ currency, unit_amount: amount, tax_behavior: tax });
      const path = teamSlot
        ? '/private/plans/{plan_id}/team-slot-prices/{billing_interval}'
        : '/private/plans/{plan_id}/prices/{billing_interval}';
      await showRecord(session, await resultOf(session.api.PUT(path, { params, body })));
    });
}

function addArchive(group: Command, open: Open): void {
  const command = group
    .command('archive')
    .description('Stop selling a plan for an interval, or its team slots. Subscribers keep their price')
    .argument('<plan_id>', 'ID', values.id)
    .addArgument(intervalArgument());
  command.addOption(teamSlotOption());
  type Options = OfTeamSlot & { yes?: boolean };
  addYes(command).action(async (plan_id: number, billing_interval: Interval, options: Options) => {
    const session = open();
    const { teamSlot = false } = options;
    const what = `${teamSlot ? 'team slots of ' : ''}plan ${String(plan_id)} by the ${billing_interval}`;
    await confirm(`Stop selling ${what}?`, options);
    const params = { path: { plan_id, billing_interval } };
    const path = teamSlot
      ? '/private/plans/{plan_id}/team-slot-prices/{billing_interval}'
      : '/private/plans/{plan_id}/prices/{billing_interval}';
    await resultOf(session.api.DELETE(path, { params }));
    await session.show(undefined, () => [`Stopped selling ${what}.`]);
  });
}

function addCompare(group: Command, open: Open): void {
  group
    .command('compare')
    .description('Compare the estimates of operations with the prices that the data API stated')
    .option('--from <date>', 'first day, in UTC (default: 6 days before the last one)', values.day)
    .option('--to <date>', 'last day (default: today)', values.day)
    .option('--account <account_id>', 'only what this account pays for', values.id)
    .option('--limit <number>', 'operations and fields to show', values.pageSize, 20)
    .action(async ({ from, to, account, limit }: Compare) => {
      const session = open();
      const query = values.given({ from, to, account_id: account });
      const answer = await resultOf(session.api.GET('/private/price-comparison', { params: { query } }));
      const fields = byRootFields(answer.operations);
      await session.show({ ...answer, fields }, () => comparisonLines(answer.operations, fields, limit));
    });
}

type Compare = { from?: string; to?: string; account?: number; limit: number };

const FIGURES = [
  'requests',
  'points',
  'estimated_points',
  'ratio',
  'exceeding_requests',
  'excess_points',
] as const;

function comparisonLines(
  operations: readonly ComparedOperation[],
  fields: readonly ComparedFields[],
  limit: number,
): string[] {
  if (operations.length === 0) return ['No request had both an estimate and a stated price.'];
  const shown = operations
    .slice(0, limit)
    .map((each) => ({ ...each, hash: each.hash.slice(0, 12), ratio: ratioOf(each) }));
  const shownFields = fields.slice(0, limit).map((each) => ({ ...each, ratio: ratioOf(each) }));
  return [
    ...tableLines(['api_version', 'name', 'hash', ...FIGURES], shown),
    '',
    ...tableLines(['root_fields', 'operations', ...FIGURES], shownFields),
  ];
}

function teamSlotOption(): Option {
  return new Option('--team-slot', 'of an additional team slot, instead of the plan');
}

function intervalArgument(): Argument {
  return new Argument('<interval>', 'length of its periods').choices(['month', 'year']);
}
