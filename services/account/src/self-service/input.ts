import { z } from 'zod';
import { countField, idField, idQueryField } from '../http/input/fields.ts';

const intervalField = z.enum(['month', 'year'], 'must be month or year');

const shownPeriodField = idField
  .nullable()
  .meta({ description: 'The `period_id` of the preview that the customer agreed to.' });

export const subscribeSchema = z.strictObject({
  plan_id: idField,
  billing_interval: intervalField,
  period_id: shownPeriodField,
});

export const changePlanSchema = z.strictObject({
  plan_id: idField,
  billing_interval: intervalField,
  effective: z.enum(['now', 'period_end'], 'must be now or period_end'),
  period_id: shownPeriodField,
});

export const ownTeamSlotsSchema = z.strictObject({
  team_slots_limit: countField.meta({ description: 'All slots, including those of the plan.' }),
});

export const whoseSubscriptionSchema = z.strictObject({
  account_id: idQueryField.optional().meta({
    description:
      'Whose subscription. Default: the manager’s for a team member with the role `billing`, else your own. Such a ' +
      'member gives the ID of their own account for a subscription of their own.',
  }),
});

export const previewSchema = z.strictObject({ plan_id: idQueryField, billing_interval: intervalField });
