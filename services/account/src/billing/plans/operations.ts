import { z } from 'zod';
import { planLimitsSchema } from '@tollgate/contracts/plan-limits';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { booleanQueryField, idQueryField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { operator, service } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import {
  changePlanAttributes,
  changeProduct,
  createPlan,
  createProduct,
  publishPlan,
  setPlanArchived,
  unpublishPlan,
} from './changes.ts';
import { largestPlanLimits } from './largest-limits.ts';
import { newPlanSchema, planChangeSchema, productSchema, publicationSchema } from './input.ts';
import { findPlan, findProduct, listPlans, listProducts } from './store.ts';

type Needs = { query: Query; transact: Transact };

const planAnswerSchema = z
  .object({
    plan_id: id,
    key: z.string().meta({ description: 'What files of plans name it by.' }),
    name: z.string(),
    product_id: id.nullable(),
    description: z.record(z.string(), z.unknown()).meta({
      description:
        'Any attributes; limits are whole numbers or null, which means no limit. So are `points_per_call_limit` and the guards that override the settings of the gateway (`graphql_max_depth`).',
    }),
    grace_sec: z.int().min(0),
    archived_at: instant.nullable(),
    public_position: z.int().nullable().meta({ description: 'Null if the plan is not in the catalogue.' }),
    price_month: z.string().nullable(),
    price_year: z
      .string()
      .nullable()
      .meta({ description: 'An interval without a price text is not offered.' }),
    included: z.array(z.string()),
    team_slot_price: z.string().nullable(),
    team_slots_max: z.int().nullable().meta({ description: 'Null if no additional team slots are offered.' }),
    managed: z
      .boolean()
      .meta({ description: 'Whether a file has made or named it: the next apply sets it again.' }),
    created_at: instant,
  })
  .meta({ id: 'Plan' });

const productAnswerSchema = z
  .object({ product_id: id, key: z.string(), name: z.string(), created_at: instant })
  .meta({ id: 'Product' });

const PLAN = { description: 'The plan.', schema: planAnswerSchema };
const PRODUCT = { description: 'The product.', schema: productAnswerSchema };

const LOCATION = { Location: 'Path of what was created.' };

const ofPlan = z.object({ plan_id: idParameter });
const ofProduct = z.object({ product_id: idParameter });

export const operatorPlans = {
  title: 'Plans',
  description: 'Plans, and the products that they belong to.',
  operations: [
    operation('GET /private/products', {
      operationId: 'listProducts',
      summary: 'List products, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ products: z.array(productAnswerSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query }) => {
        const found = await listProducts(read, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ product_id }) => product_id);
        return { products: rows, next_cursor };
      },
    }),
    operation('POST /private/products', {
      operationId: 'createProduct',
      summary: 'Create a product',
      caller: operator,
      roles: ['admin'],
      body: productSchema,
      example: { name: 'Data API' },
      answers: { 201: { ...PRODUCT, headers: LOCATION } },
      problems: ['name_taken'],
      handle: async ({ transact }: Needs, { by, body: { name } }) => {
        const product = await transact((inside) => createProduct(inside, name, by.actor));
        return new Reply(201, product, { location: `/private/products/${String(product.product_id)}` });
      },
    }),
    operation('GET /private/products/{product_id}', {
      operationId: 'getProduct',
      summary: 'Get a product',
      caller: operator,
      roles: ['viewer'],
      params: ofProduct,
      answers: { 200: PRODUCT },
      handle: async ({ query }: Needs, { params: { product_id } }) => {
        const product = await findProduct(query, product_id);
        if (product === undefined) throw new Problem('not_found');
        return product;
      },
    }),
    operation('PATCH /private/products/{product_id}', {
      operationId: 'changeProduct',
      summary: 'Rename a product',
      description: 'All its periods show the new name.',
      caller: operator,
      roles: ['admin'],
      params: ofProduct,
      body: productSchema,
      example: { name: 'Data API' },
      answers: { 200: PRODUCT },
      problems: ['name_taken'],
      handle: ({ transact }: Needs, { by, params: { product_id }, body: { name } }) =>
        transact((inside) => changeProduct(inside, product_id, name, by.actor)),
    }),
    operation('GET /private/plans', {
      operationId: 'listPlans',
      summary: 'List plans, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        ...pageFields,
        product_id: idQueryField.optional(),
        archived: booleanQueryField.optional(),
        public: booleanQueryField.optional(),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ plans: z.array(planAnswerSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query }) => {
        const found = await listPlans(read, query, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ plan_id }) => plan_id);
        return { plans: rows, next_cursor };
      },
    }),
    operation('POST /private/plans', {
      operationId: 'createPlan',
      summary: 'Create a plan',
      description:
        'The default grace window is three days. Attributes that look like a mistyped limit are refused unless ' +
        '`allow_unknown` is true.',
      caller: operator,
      roles: ['admin'],
      body: newPlanSchema,
      example: { name: 'Team', description: { points_limit: 1_000_000, rate_limit: 600 } },
      answers: { 201: { ...PLAN, headers: LOCATION } },
      problems: ['name_taken'],
      handle: async ({ transact }: Needs, { by, body }) => {
        const plan = await transact((inside) => createPlan(inside, body, by.actor));
        return new Reply(201, plan, { location: `/private/plans/${String(plan.plan_id)}` });
      },
    }),
    operation('GET /private/plans/{plan_id}', {
      operationId: 'getPlan',
      summary: 'Get a plan',
      caller: operator,
      roles: ['viewer'],
      params: ofPlan,
      answers: { 200: PLAN },
      handle: async ({ query }: Needs, { params: { plan_id } }) => {
        const plan = await findPlan(query, plan_id);
        if (plan === undefined) throw new Problem('not_found');
        return plan;
      },
    }),
    operation('PATCH /private/plans/{plan_id}', {
      operationId: 'changePlan',
      summary: 'Change a plan',
      description: 'Applies to periods that start later.',
      caller: operator,
      roles: ['admin'],
      params: ofPlan,
      body: planChangeSchema,
      example: { grace_sec: 86_400 },
      answers: { 200: PLAN },
      problems: ['name_taken'],
      handle: ({ transact }: Needs, { by, params: { plan_id }, body }) =>
        transact((inside) => changePlanAttributes(inside, plan_id, body, by.actor)),
    }),
    operation('POST /private/plans/{plan_id}/archive', {
      operationId: 'archivePlan',
      summary: 'Archive a plan',
      description: 'Subscriptions keep an archived plan.',
      caller: operator,
      roles: ['admin'],
      params: ofPlan,
      answers: { 200: PLAN },
      handle: ({ transact }: Needs, { by, params: { plan_id } }) =>
        transact((inside) => setPlanArchived(inside, plan_id, true, by.actor)),
    }),
    operation('POST /private/plans/{plan_id}/restore', {
      operationId: 'restorePlan',
      summary: 'Restore an archived plan',
      caller: operator,
      roles: ['admin'],
      params: ofPlan,
      answers: { 200: PLAN },
      handle: ({ transact }: Needs, { by, params: { plan_id } }) =>
        transact((inside) => setPlanArchived(inside, plan_id, false, by.actor)),
    }),
    operation('POST /private/plans/{plan_id}/publish', {
      operationId: 'publishPlan',
      summary: 'Put a plan into the catalogue',
      description: 'What is missing stays as it is; null removes a text or a maximum.',
      caller: operator,
      roles: ['admin'],
      params: ofPlan,
      body: publicationSchema,
      example: { public_position: 2, price_month: '49 € a month' },
      answers: { 200: PLAN },
      problems: ['plan_archived'],
      handle: ({ transact }: Needs, { by, params: { plan_id }, body }) =>
        transact((inside) => publishPlan(inside, plan_id, body, by.actor)),
    }),
    operation('POST /private/plans/{plan_id}/unpublish', {
      operationId: 'unpublishPlan',
      summary: 'Remove a plan from the catalogue',
      description: 'Subscriptions keep the plan.',
      caller: operator,
      roles: ['admin'],
      params: ofPlan,
      answers: { 200: PLAN },
      handle: ({ transact }: Needs, { by, params: { plan_id } }) =>
        transact((inside) => unpublishPlan(inside, plan_id, by.actor)),
    }),
  ],
} satisfies Chapter;

export const servicePlans = {
  title: 'Plan limits',
  description: 'For gateways, which compare them with what they hold.',
  operations: [
    operation('GET /private/plan-limits', {
      operationId: 'getPlanLimits',
      summary: 'Get the largest limits of the plans that are not archived',
      caller: service,
      answers: { 200: { description: 'Null if no plan has the limit.', schema: planLimitsSchema } },
      handle: ({ query }: Pick<Needs, 'query'>) => largestPlanLimits(query),
    }),
  ],
} satisfies Chapter;
