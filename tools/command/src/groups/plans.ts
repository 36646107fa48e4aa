import type { Command } from 'commander';
import { LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import { resultOf } from '../api/client.ts';
import type { Api, Query } from '../api/client.ts';
import { addAction, addGet, addList, addYes, newGroup, showRecord } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { addDescriptionOptions, descriptionFrom } from '../plan-description.ts';
import type { DescriptionOptions, PlanDescription } from '../plan-description.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

type PlanOptions = DescriptionOptions & {
  name?: string;
  product?: values.OrNone;
  graceSec?: number;
  allowUnknown?: boolean;
  yes?: boolean;
};

export function plansGroup(open: Open): Command {
  const group = newGroup('plans', 'Manage plans');
  addList(group, open, {
    description: 'List plans, newest first',
    page: (api: Api, query: Query<'listPlans'>) => resultOf(api.GET('/private/plans', { params: { query } })),
    itemsOf: ({ plans }) => plans,
    columns: [
      'plan_id',
      'name',
      'product_id',
      'description.points_limit',
      'grace_sec',
      'public_position',
      'archived_at',
    ],
    filters: [
      {
        parameter: 'product_id',
        flags: '--product <product_id>',
        description: 'filter by product',
        parse: values.id,
      },
      {
        parameter: 'archived',
        flags: '--archived <yes|no>',
        description: 'filter by whether they are archived',
        parse: values.yesOrNo,
      },
      {
        parameter: 'public',
        flags: '--public <yes|no>',
        description: 'filter by whether customers see them',
        parse: values.yesOrNo,
      },
    ],
  });
  addGet(group, open, {
    name: 'plan_id',
    get: (api, id) => resultOf(api.GET('/private/plans/{plan_id}', { params: { path: { plan_id: id } } })),
  });
  addCreate(group, open);
  addUpdate(group, open);
  addAction(group, open, {
    id: 'plan_id',
    name: 'archive',
    act: (api, id) =>
      resultOf(api.POST('/private/plans/{plan_id}/archive', { params: { path: { plan_id: id } } })),
    description: 'Archive a plan. Existing subscriptions keep it and renew',
  });
  addAction(group, open, {
    id: 'plan_id',
    name: 'restore',
    act: (api, id) =>
      resultOf(api.POST('/private/plans/{plan_id}/restore', { params: { path: { plan_id: id } } })),
    description: 'Restore an archived plan',
  });
  addPublish(group, open);
  addAction(group, open, {
    id: 'plan_id',
    name: 'unpublish',
    act: (api, id) =>
      resultOf(api.POST('/private/plans/{plan_id}/unpublish', { params: { path: { plan_id: id } } })),
    description: 'Take a plan out of the catalogue. Existing subscriptions keep it and renew',
  });
  return group;
}

function addCreate(group: Command, open: Open): void {
  const command = group
    .command('create')
    .description('Create a plan. Asks for confirmation if the plan has no limits')
    .requiredOption('--name <name>', 'unique name');
  addOwnOptions(command).action(async (options: PlanOptions & { name: string }) => {
    const session = open();
    const description = (await descriptionFrom(options, () => Promise.resolve({}))) ?? {};
    await confirmUnlimited(description, options);
    const body = { ...ownMembers(options), name: options.name, description };
    await showRecord(session, await resultOf(session.api.POST('/private/plans', { body })));
  });
}

function addUpdate(group: Command, open: Open): void {
  const command = group
    .command('update')
    .description(
      'Update a plan. With only --limit-… options, other attributes stay. Periods that have started keep their limits',
    )
    .argument('<plan_id>', 'ID', values.id)
    .option('--name <name>', 'unique name');
  addOwnOptions(command).action(async (id: number, options: PlanOptions) => {
    const session = open();
    const params = { path: { plan_id: id } };
    const description = await descriptionFrom(options, async () => {
      const plan = await resultOf(session.api.GET('/private/plans/{plan_id}', { params }));
      return plan.description;
    });
    if (description !== undefined) await confirmUnlimited(description, options);
    const body = values.given({ ...ownMembers(options), name: options.name, description });
    await showRecord(
      session,
      await resultOf(session.api.PATCH('/private/plans/{plan_id}', { params, body })),
    );
  });
}

type Publication = {
  position?: number;
  priceMonth?: string;
  priceYear?: string;
  include?: string[];
  slotPrice?: string;
  maxSlots?: values.OrNone;
};

function addPublish(group: Command, open: Open): void {
  group
    .command('publish')
    .description(
      'Put a plan into the catalogue that customers see, or change its entry. Options not given stay',
    )
    .argument('<plan_id>', 'ID', values.id)
    .option('--position <number>', 'place in the catalogue, lowest first', values.wholeNumber)
    .option('--price-month <text>', 'price of a month as customers read it, or none to not offer it')
    .option('--price-year <text>', 'price of a year, or none')
    .option('--include <lines...>', 'what the plan includes beside its limits, a line each')
    .option('--slot-price <text>', 'price of an additional team slot, or none')
    .option(
      '--max-slots <number>',
      'team slots that customers can buy up to, or none',
      values.wholeNumberOrNone,
    )
    .action(async (id: number, options: Publication) => {
      const session = open();
      const body = values.given({
        public_position: options.position,
        price_month: textOrNone(options.priceMonth),
        price_year: textOrNone(options.priceYear),
        included: options.include,
        team_slot_price: textOrNone(options.slotPrice),
        team_slots_max: values.nullable(options.maxSlots),
      });
      await showRecord(
        session,
        await resultOf(
          session.api.POST('/private/plans/{plan_id}/publish', { params: { path: { plan_id: id } }, body }),
        ),
      );
    });
}

const textOrNone = (text: string | undefined) => (text === 'none' ? null : text);

function addOwnOptions(command: Command): Command {
  addDescriptionOptions(command)
    .option('--product <product_id>', 'product ID, or none', values.idOrNone)
    .option(
      '--grace-sec <seconds>',
      'grace window after a period’s end (default three days)',
      values.wholeNumber,
    )
    .option('--allow-unknown', 'accept attributes that look like a mistyped limit');
  return addYes(command);
}

/** @throws {Failure} where the plan has no limit, and that isn't meant */
async function confirmUnlimited(
  description: PlanDescription,
  options: Pick<PlanOptions, 'yes'>,
): Promise<void> {
  if (LIMIT_FIELDS.some((field) => (description[field] ?? null) !== null)) return;
  await confirm('This plan has no limits, so its calls are not restricted. Continue?', options);
}

function ownMembers({ product, graceSec, allowUnknown }: PlanOptions) {
  return values.given({
    product_id: values.nullable(product),
    grace_sec: graceSec,
    allow_unknown: allowUnknown,
  });
}
