import { usageShard } from '@tollgate/contracts/usage-stream';

/**
 * The gateway's own Redis keys, all of a payer's shard: a script may touch them together on a Redis Cluster.
 * The stream, how far it is trimmed, and the live counters are named in the contract with account.
 */
const prefix = (shard: number) => `{s${String(shard)}}:`;

/** The last batch number of one gateway process. */
export function seenKey(shard: number, gatewayId: string): string {
  return `${prefix(shard)}seen:${gatewayId}`;
}

/** On which data set the stream's ids are known to be behind none that account has counted. */
export function floorKey(shard: number): string {
  return `${prefix(shard)}floor`;
}

/** How much of its minute's worth of calls a payer has used, and when that was so. */
export function rateKey(payerId: number): string {
  return `${prefix(usageShard(payerId))}rate:${String(payerId)}`;
}

/** A sorted set: leases of a payer's calls in flight, or open subscriptions, by when they expire. */
export function leasesKey(kind: 'calls' | 'subscriptions', payerId: number): string {
  return `${prefix(usageShard(payerId))}${kind}:${String(payerId)}`;
}
