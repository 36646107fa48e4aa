import { useQuery } from '@tanstack/react-query';
import { catalogueQuery, subscriptionQuery } from '../plan/queries.ts';
import { isOfLimit, limitAdvice } from './limit-advice.ts';
import type { RefusedCall } from './queries.ts';

/** Advice for the codes of these calls; null for each until the plan's limits are known. */
export function useLimitAdvice(calls: readonly RefusedCall[]): (code: string) => string | null {
  const enabled = calls.some(({ code }) => isOfLimit(code));
  const { data: subscription } = useQuery({ ...subscriptionQuery, enabled });
  const { data: plans = [] } = useQuery({ ...catalogueQuery, enabled });
  const limits = subscription?.billing_period?.limits;
  return (code) => (limits === undefined ? null : limitAdvice(code, limits, plans));
}
