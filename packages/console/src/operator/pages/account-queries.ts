import { queryOptions } from '@tanstack/react-query';
import { resultOf } from '../../api/client.ts';
import { operatorApi } from '../api/client.ts';
import { reasonHeader } from '../api/reason.ts';
import { LIMIT } from './queries.ts';

/** What support and finance read of one account, and change in it, beside `queries.ts`. */

const ofAccount = (account_id: number) => ({ path: { account_id }, query: { limit: LIMIT } });

export const mailsQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'mails'],
    queryFn: async ({ signal }) => {
      const path = '/operator/api/accounts/{account_id}/mails';
      return (await resultOf(operatorApi.GET(path, { signal, params: ofAccount(account_id) }))).mails;
    },
  });

/** @throws {ApiError} */
export function sendMailAgain(account_id: number, mail_id: number, reason: string): Promise<unknown> {
  const path = '/operator/api/accounts/{account_id}/mails/{mail_id}/send-again';
  const params = { path: { account_id, mail_id }, header: reasonHeader(reason) };
  return resultOf(operatorApi.POST(path, { params }));
}

export const webhooksQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'webhooks'],
    queryFn: async ({ signal }) => {
      const path = '/operator/api/accounts/{account_id}/webhooks';
      const params = { path: { account_id } };
      return (await resultOf(operatorApi.GET(path, { signal, params }))).webhooks;
    },
  });

export const deliveriesQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'deliveries'],
    queryFn: async ({ signal }) => {
      const path = '/operator/api/accounts/{account_id}/webhook-deliveries';
      return (await resultOf(operatorApi.GET(path, { signal, params: ofAccount(account_id) }))).deliveries;
    },
  });

/** @throws {ApiError} */
export function retryDelivery(
  path: { account_id: number; webhook_id: number; delivery_id: number },
  reason: string,
): Promise<unknown> {
  return resultOf(
    operatorApi.POST(
      '/operator/api/accounts/{account_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry',
      { params: { path, header: reasonHeader(reason) } },
    ),
  );
}

export const sessionsQuery = (account_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'sessions'],
    queryFn: async ({ signal }) => {
      const path = '/operator/api/accounts/{account_id}/sessions';
      const params = { path: { account_id } };
      return (await resultOf(operatorApi.GET(path, { signal, params }))).sessions;
    },
  });

/** @throws {ApiError} */
export function endSession(account_id: number, session_id: number, reason: string): Promise<unknown> {
  const path = '/operator/api/accounts/{account_id}/sessions/{session_id}';
  const params = { path: { account_id, session_id }, header: reasonHeader(reason) };
  return resultOf(operatorApi.DELETE(path, { params }));
}

/** @throws {ApiError} */
export function endSessions(account_id: number, reason: string): Promise<unknown> {
  const path = '/operator/api/accounts/{account_id}/sessions';
  return resultOf(
    operatorApi.DELETE(path, { params: { path: { account_id }, header: reasonHeader(reason) } }),
  );
}

export const teamQuery = (account_id: number, team_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'team'],
    queryFn: async ({ signal }) => {
      const params = { path: { team_id } };
      return (await resultOf(operatorApi.GET('/operator/api/teams/{team_id}', { signal, params }))).members;
    },
  });

export const subscriptionQuery = (account_id: number, subscription_id: number) =>
  queryOptions({
    queryKey: ['account', account_id, 'subscription'],
    queryFn: ({ signal }) => {
      const params = { path: { subscription_id } };
      return resultOf(operatorApi.GET('/operator/api/subscriptions/{subscription_id}', { signal, params }));
    },
  });

/** @throws {ApiError} */
export function changePlanOf(
  subscription_id: number,
  body: { plan_id: number; effective: 'now' | 'period_end'; usage?: 'reset' | 'keep' },
  reason: string,
): Promise<unknown> {
  const path = '/operator/api/subscriptions/{subscription_id}/change-plan';
  const params = { path: { subscription_id }, header: reasonHeader(reason) };
  return resultOf(operatorApi.POST(path, { params, body }));
}

/** @throws {ApiError} */
export function cancelSubscription(
  subscription_id: number,
  effective: 'now' | 'period_end',
  reason: string,
): Promise<unknown> {
  const path = '/operator/api/subscriptions/{subscription_id}/cancel';
  const params = { path: { subscription_id }, header: reasonHeader(reason) };
  return resultOf(operatorApi.POST(path, { params, body: { effective } }));
}

/** @throws {ApiError} */
export function resumeSubscription(subscription_id: number, reason: string): Promise<unknown> {
  const path = '/operator/api/subscriptions/{subscription_id}/resume';
  return resultOf(
    operatorApi.POST(path, { params: { path: { subscription_id }, header: reasonHeader(reason) } }),
  );
}

/** @throws {ApiError} */
export function endPeriod(period_id: number, reason: string): Promise<unknown> {
  const path = '/operator/api/periods/{period_id}/end';
  return resultOf(operatorApi.POST(path, { params: { path: { period_id }, header: reasonHeader(reason) } }));
}

/** @throws {ApiError} */
export function deletePeriod(period_id: number, reason: string): Promise<unknown> {
  const path = '/operator/api/periods/{period_id}';
  return resultOf(
    operatorApi.DELETE(path, { params: { path: { period_id }, header: reasonHeader(reason) } }),
  );
}

/** @throws {ApiError} */
export function changePeriod(
  period_id: number,
  body: { plan_id?: number; ended_at?: string },
  reason: string,
): Promise<unknown> {
  const path = '/operator/api/periods/{period_id}';
  return resultOf(
    operatorApi.PATCH(path, { params: { path: { period_id }, header: reasonHeader(reason) }, body }),
  );
}

/** @throws {ApiError} */
export function setPeriodBlocked(period_id: number, isBlocked: boolean, reason: string): Promise<unknown> {
  const path = isBlocked
    ? '/operator/api/periods/{period_id}/block'
    : '/operator/api/periods/{period_id}/unblock';
  return resultOf(operatorApi.POST(path, { params: { path: { period_id }, header: reasonHeader(reason) } }));
}

/** @throws {ApiError} */
export function voidCredit(credit_id: number, reason: string): Promise<unknown> {
  const path = '/operator/api/credits/{credit_id}/void';
  return resultOf(operatorApi.POST(path, { params: { path: { credit_id }, header: reasonHeader(reason) } }));
}

/** @throws {ApiError} */
export function revokeApplication(application_id: number, reason: string): Promise<unknown> {
  const path = '/operator/api/applications/{application_id}/revoke';
  return resultOf(
    operatorApi.POST(path, { params: { path: { application_id }, header: reasonHeader(reason) } }),
  );
}

/** @throws {ApiError} */
export function revokeToken(application_id: number, token_id: number, reason: string): Promise<unknown> {
  const path = '/operator/api/applications/{application_id}/tokens/{token_id}/revoke';
  return resultOf(
    operatorApi.POST(path, { params: { path: { application_id, token_id }, header: reasonHeader(reason) } }),
  );
}
