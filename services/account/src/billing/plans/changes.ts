import type { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor, AuditEntry } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Change } from '../../platform/audit/change.ts';
import { OVERAGE_FIELD, overagePrice } from '../periods/limits.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import type { newPlanSchema, planChangeSchema, publicationSchema } from './input.ts';
import {
  findProduct,
  insertPlan,
  insertProduct,
  listCurrencies,
  lockPlan,
  lockProduct,
  refreshUnstartedPeriods,
  renameProduct,
  storePlan,
} from './store.ts';
import type { Plan, Product } from './store.ts';

type NewPlan = z.output<typeof newPlanSchema>;
type PlanChange = z.output<typeof planChangeSchema>;
type Publication = z.output<typeof publicationSchema>;

const ATTRIBUTES = ['plan_id', 'name', 'product_id', 'description', 'grace_sec'] as const;

const LISTING = [
  'public_position',
  'price_month',
  'price_year',
  'included',
  'team_slot_price',
  'team_slots_max',
] as const;

/** @throws {Problem} name_taken, invalid_request */
export async function createPlan(query: Query, wanted: NewPlan, by: Actor): Promise<Plan> {
  await requireProduct(query, wanted.product_id);
  const plan = await insertPlan(query, wanted);
  await audit(query, by, 'plan_created', attributes(plan), changeOf(ATTRIBUTES, null, plan));
  return plan;
}

/** Applies to periods that start from now on. @throws {Problem} not_found, name_taken, invalid_request */
export async function changePlanAttributes(
  query: Query,
  planId: number,
  wanted: PlanChange,
  by: Actor,
): Promise<Plan> {
  const before = await lockPlan(query, planId);
  await requireProduct(query, wanted.product_id ?? null);
  await requireCurrency(query, before, wanted.description ?? before.description);
  const plan: Plan = {
    ...before,
    name: wanted.name ?? before.name,
    product_id: wanted.product_id === undefined ? before.product_id : wanted.product_id,
    description: wanted.description ?? before.description,
    grace_sec: wanted.grace_sec ?? before.grace_sec,
  };
  await storePlan(query, plan);
  await refreshUnstartedPeriods(query, planId);
  const details = { ...attributes(plan), before: attributes(before) };
  await audit(query, by, 'plan_changed', details, changeOf(ATTRIBUTES, before, plan));
  return plan;
}

/** Existing subscriptions keep and renew an archived plan. @throws {Problem} not_found */
export async function setPlanArchived(
  query: Query,
  planId: number,
  archived: boolean,
  by: Actor,
): Promise<Plan> {
  const before = await lockPlan(query, planId);
  const archived_at = archived ? (before.archived_at ?? (await databaseNow(query))) : null;
  const plan = { ...before, archived_at };
  await storePlan(query, plan);
  const change = changeOf(['archived_at'], before, plan);
  await audit(query, by, archived ? 'plan_archived' : 'plan_restored', { plan_id: planId }, change);
  return plan;
}

/** Puts a plan into the catalogue, or changes its entry. @throws {Problem} not_found, plan_archived, invalid_request */
export async function publishPlan(
  query: Query,
  planId: number,
  wanted: Publication,
  by: Actor,
): Promise<Plan> {
  const before = await lockPlan(query, planId);
  if (before.archived_at !== null) throw new Problem('plan_archived');
  const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const plan: Plan = { ...before, public_position: before.public_position ?? 0, ...given };
  if (plan.price_month === null && plan.price_year === null) {
    throw invalidFields([{ field: 'price_month', message: 'or price_year is required' }]);
  }
  await storePlan(query, plan);
  const details = { plan_id: planId, ...listing(plan), before: listing(before) };
  await audit(query, by, 'plan_published', details, changeOf(LISTING, before, plan));
  return plan;
}

/** Takes a plan out of the catalogue. Existing subscriptions keep and renew it. @throws {Problem} not_found */
export async function unpublishPlan(query: Query, planId: number, by: Actor): Promise<Plan> {
  const before = await lockPlan(query, planId);
  const plan = { ...before, public_position: null };
  await storePlan(query, plan);
  const change = changeOf(['public_position'], before, plan);
  await audit(query, by, 'plan_unpublished', { plan_id: planId }, change);
  return plan;
}

/** @throws {Problem} name_taken */
export async function createProduct(query: Query, name: string, by: Actor): Promise<Product> {
  const product = await insertProduct(query, name);
  const details = { product_id: product.product_id, name };
  await audit(query, by, 'product_created', details, changeOf(['product_id', 'key', 'name'], null, product));
  return product;
}

/** Also changes the name in existing periods. @throws {Problem} not_found, name_taken */
export async function changeProduct(
  query: Query,
  productId: number,
  name: string,
  by: Actor,
): Promise<Product> {
  const before = await lockProduct(query, productId);
  await renameProduct(query, productId, name);
  const details = { product_id: productId, name_before: before.name, name };
  await audit(query, by, 'product_changed', details, changeOf(['name'], before, { name }));
  return { ...before, name };
}

async function requireProduct(query: Query, productId: number | null): Promise<void> {
  if (productId === null || (await findProduct(query, productId)) !== undefined) return;
  throw invalidFields([{ field: 'product_id', message: 'there is no such product' }]);
}

/** Further points are on the invoices of the plan, which have one currency. */
async function requireCurrency(
  query: Query,
  { plan_id, description: before }: Plan,
  description: Plan['description'],
): Promise<void> {
  const overage = overagePrice(description);
  if (overage === null || overage.currency === overagePrice(before)?.currency) return;
  const other = (await listCurrencies(query, plan_id)).find((currency) => currency !== overage.currency);
  if (other === undefined) return;
  const message = `its currency must be ${other}, which the plan is sold in`;
  throw invalidFields([{ field: `description.${OVERAGE_FIELD}`, message }]);
}

function attributes({ plan_id, name, product_id, description, grace_sec }: Plan) {
  return { plan_id, name, product_id, description, grace_sec };
}

function listing(plan: Plan) {
  const { public_position, price_month, price_year, included, team_slot_price, team_slots_max } = plan;
  return { public_position, price_month, price_year, included, team_slot_price, team_slots_max };
}

async function audit(
  query: Query,
  by: Actor,
  action: AuditEntry['action'],
  details: AuditEntry['details'],
  change: Change | undefined,
): Promise<void> {
  await recordAudit(query, { ...by, action, application_id: null, account_id: null, details, change });
}
