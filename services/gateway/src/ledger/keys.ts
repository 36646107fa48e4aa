import { usageLiveKey, usageShard } from '@tollgate/contracts/usage-stream';
import type { PayerEntitlement } from './principal.ts';

// By shard, so that one script can use them on a Redis Cluster; the contract with account names the others.
const prefix = (shard: number) => `{s${String(shard)}}:`;

export function seenKey(lane: number, gatewayId: string): string {
  return `${prefix(lane)}seen:${gatewayId}`;
}

/** The live counters on which a payer's points depend: those of the current period, then of the open ones. */
export function liveKeys({
  payerId,
  periodId,
  credits,
}: Pick<PayerEntitlement, 'payerId' | 'periodId' | 'credits'>): [string, ...string[]] {
  const shard = usageShard(payerId);
  const openKeys = credits?.openPeriodIds.map((openId) => usageLiveKey(shard, openId)) ?? [];
  return [usageLiveKey(shard, periodId), ...openKeys];
}

export function rateKey(payerId: number): string {
  return `${prefix(usageShard(payerId))}rate:${String(payerId)}`;
}

export function leasesKey(kind: 'calls' | 'subscriptions', payerId: number): string {
  return `${prefix(usageShard(payerId))}${kind}:${String(payerId)}`;
}

/** What calls in flight have reserved of the payer's points (docs/design/admission.md). */
export function reservationsKey(payerId: number): string {
  return `${prefix(usageShard(payerId))}reserved:${String(payerId)}`;
}

/** What gateways hold of the payer's limits (docs/design/admission.md). Scripts take the payer from the key's end. */
export function sharesKey(payerId: number): string {
  return `${prefix(usageShard(payerId))}shares:${String(payerId)}`;
}
