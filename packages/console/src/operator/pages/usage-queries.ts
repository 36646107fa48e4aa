import { queryOptions } from '@tanstack/react-query';
import { resultOf } from '../../api/client.ts';
import { operatorApi } from '../api/client.ts';
import { reasonHeader } from '../api/reason.ts';
import { LIMIT } from './queries.ts';

export const gapsQuery = queryOptions({
  queryKey: ['usage', 'gaps'],
  queryFn: async ({ signal }) => {
    const params = { query: { limit: LIMIT } };
    return (await resultOf(operatorApi.GET('/operator/api/usage-gaps', { signal, params }))).gaps;
  },
});

export const unassignedQuery = queryOptions({
  queryKey: ['usage', 'unassigned'],
  queryFn: async ({ signal }) => {
    const params = { query: { limit: LIMIT } };
    return (await resultOf(operatorApi.GET('/operator/api/usage-unassigned', { signal, params }))).unassigned;
  },
});

/** `period_id`: another than that of the event. @throws {ApiError} */
export function countUnassigned(
  unassigned_id: number,
  period_id: number | undefined,
  reason: string,
): Promise<unknown> {
  const params = { path: { unassigned_id }, header: reasonHeader(reason) };
  const body = period_id === undefined ? {} : { period_id };
  return resultOf(operatorApi.POST('/operator/api/usage-unassigned/{unassigned_id}/count', { params, body }));
}

/** The newest periods, or one. @throws {ApiError} */
export function checkUsage(period_id: number | undefined) {
  const body = period_id === undefined ? {} : { period_id };
  return resultOf(operatorApi.POST('/operator/api/usage-checks', { body }));
}

export type UsageCheck = Awaited<ReturnType<typeof checkUsage>>;

/** @throws {ApiError} */
export function rebuildUsage(period_id: number, reason: string): Promise<unknown> {
  const params = { header: reasonHeader(reason) };
  return resultOf(operatorApi.POST('/operator/api/usage-rebuilds', { params, body: { period_id } }));
}

/** `restored`: Postgres is from a backup. @throws {ApiError} */
export function repairUsage(restored: boolean, reason: string) {
  const params = { header: reasonHeader(reason) };
  return resultOf(operatorApi.POST('/operator/api/usage-repairs', { params, body: { restored } }));
}

export type UsageRepair = Awaited<ReturnType<typeof repairUsage>>;

/** `isTrial`: only says what is different. @throws {ApiError} */
export function reconcilePayments(isTrial: boolean, reason: string) {
  const params = { header: reasonHeader(reason) };
  return resultOf(
    operatorApi.POST('/operator/api/payments/reconcile', { params, body: { dry_run: isTrial } }),
  );
}

export type Reconciliation = Awaited<ReturnType<typeof reconcilePayments>>;
