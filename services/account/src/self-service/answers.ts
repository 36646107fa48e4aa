import { LIMIT_FIELDS, billingStatusSchema } from '@tollgate/contracts/entitlement';
import { USAGE_FIELDS } from '@tollgate/contracts/usage-response';
import { z } from 'zod';
import { overageOfferSchema } from '../billing/periods/overage-offer.ts';
import { id, instant } from '../http/answer-fields.ts';
import { SELF_SERVICE_ACTIONS } from './settings.ts';

const interval = z.enum(['month', 'year']);

const limits = z
  .record(z.enum(LIMIT_FIELDS), z.int().nullable())
  .meta({ description: 'A limit that is null is not enforced.' });

const price = z.string().nullable();

const publicPlanSchema = z
  .object({
    plan_id: id,
    name: z.string(),
    prices: z
      .object({ month: price, year: price })
      .meta({ description: 'Price texts. The plan is not offered for an interval whose text is null.' }),
    is_free: z.boolean().meta({
      description: 'Whether the plan starts without the payment page: with payments, at a price of 0.',
    }),
    yearly_saving_percent: z.int().nullable().meta({
      description:
        'What a year costs less than twelve months; null if it doesn’t, or where prices are only texts.',
    }),
    included: z.array(z.string()).meta({ description: 'What the plan includes, line by line.' }),
    limits,
    points_per_call_limit: z.int().nullable().meta({
      description: 'The most that one operation may cost by its estimate; null if that is not limited.',
    }),
    rollover_points_max: z.int().nullable().meta({
      description: 'How many unused points go over to the next billing period; null for none.',
    }),
    overage: overageOfferSchema
      .nullable()
      .meta({ description: 'What points beyond the included ones cost; null if the plan sells none.' }),
    team_slots: z
      .object({ max: z.int(), price })
      .nullable()
      .meta({ description: 'Additional team slots; null if none are offered.' }),
  })
  .meta({ id: 'PublicPlan' });

export const catalogueSchema = z.object({
  plans: z.array(publicPlanSchema).meta({ description: 'In the order of the catalogue.' }),
});

const periodSchema = z.object({
  period_id: id,
  plan_id: id.nullable(),
  plan_name: z.string(),
  product_name: z.string().nullable(),
  started_at: instant,
  ended_at: instant.meta({ description: 'The last second of the period.' }),
  grace_ends_at: instant.meta({ description: 'Calls pass until then, unless another period has followed.' }),
  is_trial: z.boolean().meta({ description: 'Started at sign-up; ends without renewal.' }),
  limits,
  points_included: z.int().nullable().meta({
    description: 'The plan’s part of the points in `limits`; the rest is in addition. Null for no limit.',
  }),
  usage: z.record(z.enum(USAGE_FIELDS), z.int()),
});

const ownSubscriptionSchema = z.object({
  plan_id: id,
  plan_name: z.string(),
  billing_interval: interval,
  next_period_at: instant.meta({ description: 'When the next period starts, or the subscription ends.' }),
  cancel_at_period_end: z.boolean(),
  pending: z
    .object({ plan_id: id, plan_name: z.string(), billing_interval: interval })
    .nullable()
    .meta({ description: 'The planned change.' }),
  following: z
    .object({ plan_id: id, plan_name: z.string() })
    .nullable()
    .meta({ description: 'The free plan that starts when the subscription has ended.' }),
  team_slots_limit: z.int().nullable().meta({ description: 'Null means the value of the plan.' }),
});

export const subscriptionSchema = z
  .object({
    account_id: id,
    payer: z
      .object({ account_id: id, name: z.string(), email: z.string() })
      .meta({ description: "The team's manager for a member, else the account itself." }),
    status: z.enum([...billingStatusSchema.options, 'none']),
    billing_period: periodSchema.nullable().meta({ description: "The payer's." }),
    subscription: ownSubscriptionSchema.nullable().meta({ description: "The account's own." }),
    team_slots: z
      .object({
        used: z.int(),
        included: z.int(),
        limit: z.int(),
        least: z.int().meta({ description: 'What can be released down to, unless more are used.' }),
        max: z.int(),
        price,
        is_charged: z.boolean().meta({
          description:
            'Whether more are charged first, and fewer are released at the end of the period: ' +
            '`GET /api/console/subscription/team-slots` says how much.',
        }),
        pending_limit: z.int().nullable().meta({ description: 'How many are left from the next period on.' }),
      })
      .nullable()
      .meta({ description: 'Null for members, without a subscription, and if the plan limits no team.' }),
    payments: z
      .object({
        is_checkout: z.boolean().meta({
          description:
            'Whether a plan is chosen on the payment page, since the account has none that is charged.',
        }),
        has_portal: z.boolean().meta({ description: 'Whether there is a customer portal for the account.' }),
        due: z
          .object({
            grace_at: instant,
            blocks_at: instant.meta({ description: 'Calls are refused from then on, until it is paid.' }),
          })
          .nullable()
          .meta({ description: 'A payment that is overdue; null if there is none.' }),
      })
      .nullable()
      .meta({ description: 'Null where payments are not enabled.' }),
    self_service: z.object({
      actions: z.array(z.enum(SELF_SERVICE_ACTIONS)),
      contact_sales_url: z.string().nullable(),
    }),
  })
  .meta({ id: 'Subscription' });

const times = z.object({ started_at: instant, ended_at: instant }).nullable();

export const previewAnswerSchema = z
  .object({
    period_id: id.nullable().meta({ description: 'The current period, to send with the change.' }),
    now: times.meta({
      description:
        'The period of the plan if it starts now: with the present interval, the current one; null if that is not ' +
        'possible.',
    }),
    is_charged: z.boolean().meta({
      description:
        'Whether a start now is charged first: `GET /api/console/subscription/upgrade` says how much.',
    }),
    period_end: times.meta({
      description:
        'Its first period if it starts at the end of the current one; null if that is not possible.',
    }),
  })
  .meta({ id: 'SubscriptionPreview' });
