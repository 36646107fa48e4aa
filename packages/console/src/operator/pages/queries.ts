import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { resultOf } from '../../api/client.ts';
import { downloadOf } from '../../api/downloads.ts';
import type { Download } from '../../api/downloads.ts';
import { operatorApi } from '../api/client.ts';
import type { components } from '../api/schema.d.ts';
import { REASON, reasonHeader } from '../api/reason.ts';
import type { AuditFilters } from './audit-filters.ts';

export type Account = components['schemas']['OperatedAccount'];
export type AccountSummary = components['schemas']['AccountSummary'];

export type Period = components['schemas']['Period'];

/** The newest of each list; the command has all of them. */
export const LIMIT = 20;

export const accountQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id],
    queryFn: ({ signal }) =>
      resultOf(
        operatorApi.GET('/operator/api/accounts/{account_id}', { signal, params: { path: { account_id } } }),
      ),
  });

export const applicationsQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'applications'],
    queryFn: async ({ signal }) => {
      const params = { query: { account_id, limit: LIMIT } };
      return (await resultOf(operatorApi.GET('/operator/api/applications', { signal, params }))).applications;
    },
  });

export type ActingApplication = components['schemas']['Application'];

/** Those that act for other people, newest first. */
export const actingApplicationsQuery = infiniteQueryOptions({
  queryKey: ['applications'],
  queryFn: ({ signal, pageParam }) => {
    const query = {
      type: 'authorization' as const,
      limit: 50,
      ...(pageParam === null ? {} : { cursor: pageParam }),
    };
    return resultOf(operatorApi.GET('/operator/api/applications', { signal, params: { query } }));
  },
  initialPageParam: null as string | null,
  getNextPageParam: ({ next_cursor }) => next_cursor,
});

/** What an operator has read of an application. */
type Verification = { name: string; developer: string | null; redirect_uris: string[] };

/** @throws {ApiError} changed_meanwhile where it is different by now */
export function verify(application_id: number, read: Verification, reason: string): Promise<unknown> {
  const params = { header: { [REASON]: encodeURIComponent(reason) }, path: { application_id } } as const;
  const path = '/operator/api/applications/{application_id}/verify';
  return resultOf(operatorApi.POST(path, { params, body: read }));
}

/** @throws {ApiError} */
export function endVerification(application_id: number, reason: string): Promise<unknown> {
  const params = { header: reasonHeader(reason), path: { application_id } };
  return resultOf(operatorApi.DELETE('/operator/api/applications/{application_id}/verification', { params }));
}

export const tokensQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'tokens'],
    queryFn: async ({ signal }) => {
      const params = { path: { account_id }, query: { limit: LIMIT } };
      const path = '/operator/api/accounts/{account_id}/tokens';
      return (await resultOf(operatorApi.GET(path, { signal, params }))).tokens;
    },
  });

export const periodsQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'periods'],
    queryFn: async ({ signal }) => {
      const params = { query: { account_id, limit: LIMIT } };
      return (await resultOf(operatorApi.GET('/operator/api/periods', { signal, params }))).periods;
    },
  });

/** That can be chosen for a period. */
export const plansQuery = queryOptions({
  queryKey: ['plans'],
  queryFn: async ({ signal }) => {
    const params = { query: { archived: 'false' as const, limit: 100 } };
    return (await resultOf(operatorApi.GET('/operator/api/plans', { signal, params }))).plans;
  },
});

export const creditsQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'credits'],
    queryFn: async ({ signal }) => {
      const params = { query: { account_id, limit: LIMIT } };
      return (await resultOf(operatorApi.GET('/operator/api/credits', { signal, params }))).credits;
    },
  });

export const refusalsQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'refusals'],
    queryFn: async ({ signal }) => {
      const params = { path: { account_id }, query: { limit: LIMIT } };
      const path = '/operator/api/accounts/{account_id}/refusals';
      return (await resultOf(operatorApi.GET(path, { signal, params }))).refusals;
    },
  });

export type AuditEntry = components['schemas']['AuditEntry'];

export const accountAuditQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'audit'],
    queryFn: async ({ signal }) => {
      const params = { query: { account_id, limit: LIMIT } };
      return (await resultOf(operatorApi.GET('/operator/api/audit-log', { signal, params }))).entries;
    },
  });

export const auditLogQuery = (filters: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: ['audit', filters],
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: 50, ...filters, ...(pageParam === null ? {} : { cursor: pageParam }) };
      return resultOf(operatorApi.GET('/operator/api/audit-log', { signal, params: { query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

/** Asked for again while the page is open: it takes some queries, so not more often. */
const HEALTH_INTERVAL_MS = 30_000;

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => resultOf(operatorApi.GET('/operator/api/health-report', { signal })),
  refetchInterval: HEALTH_INTERVAL_MS,
});

/** All that the filters leave, not only what is shown. @throws {ApiError} */
export function exportAudit(filters: AuditFilters, format: 'csv' | 'ndjson'): Promise<Download> {
  const outcome = operatorApi.POST('/operator/api/audit-log/export', {
    body: { format, ...filters },
    parseAs: 'stream',
  });
  return downloadOf(outcome, `audit-log.${format}`);
}

export type Found = { text: string; accounts: { account_id: number; what: string }[] };

/** Customers by what they quote. @throws {ApiError} */
export async function find(text: string): Promise<Found> {
  const { found } = await resultOf(operatorApi.POST('/operator/api/search', { body: { text } }));
  return { text, accounts: found };
}

export const newestAccountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: async ({ signal }) => {
    const params = { query: { limit: LIMIT } };
    return (await resultOf(operatorApi.GET('/operator/api/accounts', { signal, params }))).accounts;
  },
});

/** @throws {ApiError} */
export function setBlocked(account_id: number, isBlocked: boolean, reason: string): Promise<Account> {
  const path = isBlocked
    ? '/operator/api/accounts/{account_id}/block'
    : '/operator/api/accounts/{account_id}/unblock';
  const params = { header: reasonHeader(reason), path: { account_id } };
  return resultOf(operatorApi.POST(path, { params }));
}

/** @throws {ApiError} */
export function resetTwoFactor(account_id: number, reason: string): Promise<Account | PendingAct> {
  const params = { header: { [REASON]: encodeURIComponent(reason) }, path: { account_id } } as const;
  return resultOf(operatorApi.POST('/operator/api/accounts/{account_id}/reset-two-factor', { params }));
}

/** @throws {ApiError} */
export function changeEmail(
  account_id: number,
  email: string,
  reason: string,
): Promise<Account | PendingAct> {
  const params = { header: { [REASON]: encodeURIComponent(reason) }, path: { account_id } } as const;
  return resultOf(operatorApi.POST('/operator/api/accounts/{account_id}/email', { params, body: { email } }));
}

/** @throws {ApiError} */
export function cancelDeletion(account_id: number, reason: string): Promise<Account> {
  const params = { header: reasonHeader(reason), path: { account_id } };
  return resultOf(operatorApi.POST('/operator/api/accounts/{account_id}/deletion/cancel', { params }));
}

export type Grant = { points: number; source: 'promotion' | 'compensation'; note: string; reason: string };

/** `key`: one for each grant that is meant, so that a repeated request grants once. @throws {ApiError} */
export function grantCredits(account_id: number, { points, source, note, reason }: Grant, key: string) {
  return resultOf(
    operatorApi.POST('/operator/api/credits', {
      params: { header: { 'Idempotency-Key': key, ...reasonHeader(reason) } },
      body: { account_id, points, source, priority: 50, note },
    }),
  );
}

export type NewPeriod = { account_id: number; plan_id: number; started_at: string; ended_at: string };

/** @throws {ApiError} */
export function addPeriod(body: NewPeriod, reason: string) {
  return resultOf(
    operatorApi.POST('/operator/api/periods', { params: { header: reasonHeader(reason) }, body }),
  );
}

export type PendingAct = components['schemas']['PendingAct'];

/** Others decide while the page is open. */
const PENDING_INTERVAL_MS = 10_000;

export const pendingActsQuery = queryOptions({
  queryKey: ['pending-acts'],
  queryFn: async ({ signal }) =>
    (await resultOf(operatorApi.GET('/operator/api/pending-acts', { signal }))).acts,
  refetchInterval: PENDING_INTERVAL_MS,
});

/** @throws {ApiError} */
export function confirmAct(act_id: number): Promise<unknown> {
  const path = '/operator/api/pending-acts/{act_id}/confirm';
  return resultOf(operatorApi.POST(path, { params: { path: { act_id } }, parseAs: 'text' }));
}

/** @throws {ApiError} */
export function declineAct(act_id: number): Promise<unknown> {
  const path = '/operator/api/pending-acts/{act_id}';
  return resultOf(operatorApi.DELETE(path, { params: { path: { act_id } } }));
}

/** Whether what was asked for waits for a second operator. */
export function isWaiting(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'act_id' in result;
}
