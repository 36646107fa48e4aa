import { z } from 'zod';
import { id } from '../../http/answer-fields.ts';

const figure = z.int().min(0).nullable();

const budgetFields = {
  points_per_period: figure.meta({
    description:
      "Points that may be spent in the payer's billing period. Null is no limit; 0 allows nothing.",
  }),
  points_per_day: figure.meta({
    description: 'Points that may be spent on a UTC day. Null is no limit; 0 allows nothing.',
  }),
};

const spentField = z
  .object({ points_in_period: z.int().min(0).nullable(), points_today: z.int().min(0) })
  .meta({
    description:
      "What was spent in the payer's current billing period, null without one, and on the current UTC day.",
  });

export const applicationFigures = {
  ...budgetFields,
  manager_points_per_period: figure,
  manager_points_per_day: figure.meta({
    description: "Set by the manager of the owner's team. The lower figure holds.",
  }),
};

export const memberBudgetSchema = z
  .object({ ...budgetFields, spent: spentField })
  .meta({ id: 'MemberBudget' });

export const applicationBudgetSchema = z
  .object({ application_id: id, ...applicationFigures, spent: spentField })
  .meta({ id: 'ApplicationBudget' });
