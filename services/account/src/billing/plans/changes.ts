import type { z } from 'zod';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor, AuditEntry } from '../../platform/audit/audit-log.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import type { newPlanSchema, planChangeSchema } from './input.ts';
import {
  findProduct,
  insertPlan,
  insertProduct,
  lockPlan,
  lockProduct,
  refreshUnstartedPeriods,
  renameProduct,
  storePlan,
} from './store.ts';
import type { Plan, Product } from './store.ts';

type NewPlan = z.output<typeof newPlanSchema>;
type PlanChange = z.output<typeof planChangeSchema>;

/** @throws {Problem} name_taken, invalid_request */
export async function createPlan(query: Query, wanted: NewPlan, by: Actor): Promise<Plan> {
  await requireProduct(query, wanted.product_id);
  const plan = await insertPlan(query, { ...wanted, archived_at: null });
  await audit(query, by, 'plan_created', attributes(plan));
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
  const plan: Plan = {
    ...before,
    name: wanted.name ?? before.name,
    product_id: wanted.product_id === undefined ? before.product_id : wanted.product_id,
    description: wanted.description ?? before.description,
    grace_sec: wanted.grace_sec ?? before.grace_sec,
  };
  await storePlan(query, plan);
  await refreshUnstartedPeriods(query, planId);
  await audit(query, by, 'plan_changed', { ...attributes(plan), before: attributes(before) });
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
  await audit(query, by, archived ? 'plan_archived' : 'plan_restored', { plan_id: planId });
  return plan;
}

/** @throws {Problem} name_taken */
export async function createProduct(query: Query, name: string, by: Actor): Promise<Product> {
  const product = await insertProduct(query, name);
  await audit(query, by, 'product_created', { product_id: product.product_id, name });
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
  await audit(query, by, 'product_changed', { product_id: productId, name_before: before.name, name });
  return { ...before, name };
}

async function requireProduct(query: Query, productId: number | null): Promise<void> {
  if (productId === null || (await findProduct(query, productId)) !== undefined) return;
  throw invalidFields([{ field: 'product_id', message: 'there is no such product' }]);
}

function attributes({ plan_id, name, product_id, description, grace_sec }: Plan) {
  return { plan_id, name, product_id, description, grace_sec };
}

async function audit(
  query: Query,
  by: Actor,
  action: AuditEntry['action'],
  details: AuditEntry['details'],
): Promise<void> {
  await recordAudit(query, { ...by, action, application_id: null, account_id: null, details });
}
