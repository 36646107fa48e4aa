import { z } from 'zod';

/**
 * How finished calls travel from the gateways to account: one Redis Stream per shard, one entry per batch
 * (docs/architecture.md, walk 2). The braces make all keys of a shard share a Redis Cluster slot,
 * so that one script may touch them. The count is part of the contract: changing it moves payers between
 * shards, and is only safe while every stream is empty.
 */
export const USAGE_SHARD_COUNT = 64;

/** The shard of a payer: every event of one payer goes through one stream, in order. */
export function usageShard(payerId: number): number {
  return payerId % USAGE_SHARD_COUNT;
}

/** Redis key of a shard's stream. */
export function usageStreamKey(shard: number): string {
  return `{s${String(shard)}}:usage`;
}

/**
 * Redis key of the id up to which account has counted a shard's stream and removed what it has counted. Written
 * by the script that trims, and never lowered: who builds live counters from a snapshot and the stream finds
 * out by it that entries after the snapshot's position are gone already.
 */
export function usageTrimmedKey(shard: number): string {
  return `{s${String(shard)}}:trimmed`;
}

/**
 * Redis key of a billing period's live counters, a hash that the gateways build and add to (ADR 0020). account
 * changes it in one way only: after it has counted what came by no stream, it adds that, or removes the hash so
 * that it is built anew (ADR 0029). `usage_version` in it is that of the snapshot it was built from, and of what
 * account has added since.
 */
export function usageLiveKey(shard: number, periodId: number): string {
  return `{s${String(shard)}}:live:${String(periodId)}`;
}

/**
 * Redis key of the newest `usage_version` that account has told of for a billing period: live counters aren't built
 * from a snapshot of an older one. Kept for far longer than a snapshot can be on its way.
 */
export function usageVersionKey(shard: number, periodId: number): string {
  return `{s${String(shard)}}:usage-version:${String(periodId)}`;
}

/** The one field of a stream entry; its value is a JSON usage batch. */
export const USAGE_BATCH_FIELD = 'batch';

/**
 * The most that one counter of one event can plausibly hold (a terabyte, thirty years, a million million
 * points: far beyond one call, and far from 2^53). account sets a larger one aside instead of
 * counting it; the gateway takes an upstream's `X-Points` above it for none, and sums no events to more.
 */
export const MAX_EVENT_COUNTER = 1e12;

/**
 * What finished data calls of one application used, of one account and API version, within one hour: those of one
 * batch are summed (ADR 0033).
 */
export const usageEventSchema = z.object({
  payer_id: z.int(),
  period_id: z.int(),
  account_id: z.int(),
  application_id: z.int(),
  api_version: z.enum(['v1', 'v2']),
  points: z.int().min(0),
  /** How many calls; zero for a further part of an open one. */
  requests: z.int().min(0),
  /** Milliseconds of open subscriptions; zero for a call that isn't one. */
  time_ms: z.int().min(0),
  /** Bytes of response body sent to the caller. */
  traffic_bytes: z.int().min(0),
  /** When the first of the calls was finished, milliseconds since the epoch; it decides the hourly row. */
  at_ms: z.int().min(0),
});

export type UsageEvent = z.infer<typeof usageEventSchema>;

/**
 * The most that a counter of a billing period holds: what a JSON number states exactly, 2^53 - 1. account counts
 * nothing beyond it.
 */
export const MAX_TOTAL = Number.MAX_SAFE_INTEGER;

/** What was used, of whatever and whenever. */
export type UsageCounters = Pick<UsageEvent, 'points' | 'requests' | 'time_ms' | 'traffic_bytes'>;

/** Adds to the counters of the first what those of the second hold. */
export function addCounters(sum: UsageCounters, more: UsageCounters): void {
  sum.points += more.points;
  sum.requests += more.requests;
  sum.time_ms += more.time_ms;
  sum.traffic_bytes += more.traffic_bytes;
}

const HOUR_MS = 3_600_000;

/** Start of the hourly row that an event of that time belongs to; both in milliseconds since the epoch. */
export function usageHour(atMs: number): number {
  return Math.floor(atMs / HOUR_MS) * HOUR_MS;
}

/**
 * What a gateway process has written to one stream before a batch: how many batches, with how many calls and points,
 * and when the last of them was made (milliseconds since the epoch, 0 before the first). Each batch bears it, so that
 * account finds the exact extent of what Redis has lost between two of them (ADR 0041).
 */
export const writtenBeforeSchema = z.object({
  batches: z.int().min(0),
  requests: z.int().min(0),
  points: z.int().min(0),
  at_ms: z.int().min(0),
});

export type WrittenBefore = z.infer<typeof writtenBeforeSchema>;

/**
 * What a gateway settles at once. (gateway_id, seq) names the batch: sent again after an uncertain answer it
 * keeps its number, and the settlement script counts it once.
 */
export const usageBatchSchema = z.object({
  gateway_id: z.string(),
  seq: z.int().min(1),
  /** A gateway of the version before states none. What can't be read costs the batch nothing else. */
  before: writtenBeforeSchema.optional().catch(undefined),
  events: z.array(usageEventSchema).min(1),
});

export type UsageBatch = z.infer<typeof usageBatchSchema>;

/**
 * Answer of account's `GET /private/usage-snapshots/{period_id}`: what is counted for a billing period, and the
 * id of the last entry of its payer's stream that is contained in it (`0-0` where none is). Both are of the same
 * moment: these counters and the events of all later entries together are the usage, neither more nor less.
 * Unknown periods are 404 `not_found`.
 */
export const usageSnapshotSchema = z.object({
  period_id: z.int(),
  payer_id: z.int(),
  points: z.int().min(0),
  requests: z.int().min(0),
  time_ms: z.int().min(0),
  traffic_bytes: z.int().min(0),
  stream_position: z.string().regex(/^\d{1,20}-\d{1,20}$/),
  /** Grows with every change of the counters that came by no stream. An account of before it tells none. */
  usage_version: z.int().min(0).default(0),
});

export type UsageSnapshot = z.infer<typeof usageSnapshotSchema>;
