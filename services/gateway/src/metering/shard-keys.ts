import { usageShard } from '@tollgate/contracts/usage-stream';

/**
 * The gateway's own Redis keys, by shard so that one script may use them together on a Redis Cluster. The contract
 * with account names the others.
 */
const prefix = (shard: number) => `{s${String(shard)}}:`;

/** The last batch number of one gateway process. */
export function seenKey(shard: number, gatewayId: string): string {
  return `${prefix(shard)}seen:${gatewayId}`;
}

/** The data set on which the stream's ids are known to follow those that account has counted. */
export function floorKey(shard: number): string {
  return `${prefix(shard)}floor`;
}

/** The level of a payer's rate, and its time. */
export function rateKey(payerId: number): string {
  return `${prefix(usageShard(payerId))}rate:${String(payerId)}`;
}

/** A sorted set of a payer's leases by expiry. */
export function leasesKey(kind: 'calls' | 'subscriptions', payerId: number): string {
  return `${prefix(usageShard(payerId))}${kind}:${String(payerId)}`;
}
