import { queryOptions } from '@tanstack/react-query';
import { resultOf } from '../../api/client.ts';
import { operatorApi } from '../api/client.ts';
import { reasonHeader } from '../api/reason.ts';
import type { components } from '../api/schema.d.ts';
import { LIMIT } from './queries.ts';

export type Plan = components['schemas']['Plan'];
export type PlansChange = components['schemas']['PlansChange'];

/** Of the form of a plan. */
export type WantedPlan = {
  name: string;
  product_id: number | null;
  description: Record<string, components['schemas']['JsonValue']>;
  grace_sec: number;
};

const MAX_LISTED = 100;

/** Archived ones too; more than these are the command's. */
export const allPlansQuery = queryOptions({
  queryKey: ['plans', 'all'],
  queryFn: async ({ signal }) => {
    const params = { query: { limit: MAX_LISTED } };
    return (await resultOf(operatorApi.GET('/operator/api/plans', { signal, params }))).plans;
  },
});

export const productsQuery = queryOptions({
  queryKey: ['plans', 'products'],
  queryFn: async ({ signal }) => {
    const params = { query: { limit: MAX_LISTED } };
    return (await resultOf(operatorApi.GET('/operator/api/products', { signal, params }))).products;
  },
});

export const planQuery = (plan_id: number) =>
  queryOptions({
    queryKey: ['plans', plan_id],
    queryFn: ({ signal }) =>
      resultOf(operatorApi.GET('/operator/api/plans/{plan_id}', { signal, params: { path: { plan_id } } })),
  });

export const planPricesQuery = (planId: number) =>
  queryOptions({
    queryKey: ['plans', planId, 'prices'],
    queryFn: async ({ signal }) => {
      const { plan_prices } = await resultOf(operatorApi.GET('/operator/api/plan-prices', { signal }));
      return plan_prices.filter(({ plan_id }) => plan_id === planId);
    },
  });

/** The newest billing periods of a plan: who has it. */
export const planPeriodsQuery = (plan_id: number) =>
  queryOptions({
    queryKey: ['plans', plan_id, 'periods'],
    queryFn: async ({ signal }) => {
      const params = { query: { plan_id, limit: LIMIT } };
      return (await resultOf(operatorApi.GET('/operator/api/periods', { signal, params }))).periods;
    },
  });

/** @throws {ApiError} */
export function createPlan(body: WantedPlan, reason: string): Promise<Plan> {
  const params = { header: reasonHeader(reason) };
  return resultOf(
    operatorApi.POST('/operator/api/plans', { params, body: { ...body, allow_unknown: false } }),
  );
}

/** What a change of one plan does, and whom it reaches. Nothing for no change. @throws {ApiError} */
export async function previewPlan(
  { key }: Plan,
  { wanted, productKey }: { wanted: WantedPlan; productKey: string | null },
): Promise<PlansChange | undefined> {
  const { name, description, grace_sec } = wanted;
  const source = JSON.stringify({ plans: { [key]: { name, product: productKey, description, grace_sec } } });
  const { changes } = await resultOf(
    operatorApi.POST('/operator/api/plans-as-code/diff', { body: { source, prune: false } }),
  );
  return changes.find((change) => change.kind === 'plan');
}

/** Waits where a second operator must confirm it. @throws {ApiError} */
export function changePlan(plan_id: number, wanted: WantedPlan, reason: string): Promise<unknown> {
  const params = { path: { plan_id }, header: reasonHeader(reason) };
  return resultOf(
    operatorApi.PATCH('/operator/api/plans/{plan_id}', { params, body: { ...wanted, allow_unknown: true } }),
  );
}

/** @throws {ApiError} */
export function setArchived(plan_id: number, isArchived: boolean, reason: string): Promise<Plan> {
  const path = isArchived ? '/operator/api/plans/{plan_id}/archive' : '/operator/api/plans/{plan_id}/restore';
  return resultOf(operatorApi.POST(path, { params: { path: { plan_id }, header: reasonHeader(reason) } }));
}

type Publication = {
  public_position: number;
  price_month: string | null;
  price_year: string | null;
  included: string[];
};

/** @throws {ApiError} */
export function publish(plan_id: number, body: Publication, reason: string): Promise<Plan> {
  const params = { path: { plan_id }, header: reasonHeader(reason) };
  return resultOf(operatorApi.POST('/operator/api/plans/{plan_id}/publish', { params, body }));
}

/** @throws {ApiError} */
export function unpublish(plan_id: number, reason: string): Promise<Plan> {
  const params = { path: { plan_id }, header: reasonHeader(reason) };
  return resultOf(operatorApi.POST('/operator/api/plans/{plan_id}/unpublish', { params }));
}

/** @throws {ApiError} */
export function createProduct(name: string, reason: string): Promise<unknown> {
  const params = { header: reasonHeader(reason) };
  return resultOf(operatorApi.POST('/operator/api/products', { params, body: { name } }));
}

/** @throws {ApiError} */
export function renameProduct(product_id: number, name: string, reason: string): Promise<unknown> {
  const params = { path: { product_id }, header: reasonHeader(reason) };
  return resultOf(operatorApi.PATCH('/operator/api/products/{product_id}', { params, body: { name } }));
}
