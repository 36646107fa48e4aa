import { z } from 'zod';
import { durationCountsSchema } from './durations.ts';
import { OPERATION_NAME } from './refused-call.ts';

/** Changing it moves payers between shards, which is safe only while Redis is empty. */
export const USAGE_SHARD_COUNT = 64;

export function usageShard(payerId: number): number {
  return payerId % USAGE_SHARD_COUNT;
}

/**
 * Of some lanes, at most as many as shards, the one that takes the payer's usage. account knows how many there are, and
 * tells gateways.
 */
export function usageLane(payerId: number, lanes: number): number {
  return payerId % lanes;
}

/**
 * A lane's stream. The braces put a lane's keys into the Redis Cluster slot of the shard of the same number, so that with
 * as many lanes as shards a script can use a payer's stream and live counters together.
 */
export function usageStreamKey(lane: number): string {
  return `{s${String(lane)}}:usage`;
}

/**
 * How many lanes there are, as each of them knows. It only grows; a lane takes no usage of payers that have moved to
 * another one (docs/design/settlement.md).
 */
export function usageLanesKey(lane: number): string {
  return `{s${String(lane)}}:lanes`;
}

/** The lane's last entry of before there were more: from the next one on, it has none of payers that have moved. */
export function usageMovedKey(lane: number): string {
  return `{s${String(lane)}}:moved`;
}

/** The data set on which the stream's ids are known to follow those that account has counted. */
export function usageFloorKey(lane: number): string {
  return `{s${String(lane)}}:floor`;
}

/** Until when shares that Redis has lost may be in use, and the data set that lacks them. */
export function usageFenceKey(lane: number): string {
  return `{s${String(lane)}}:fence`;
}

/** Last entry that account has counted and trimmed; never lowered. Shows when a snapshot is too old. */
export function usageTrimmedKey(lane: number): string {
  return `{s${String(lane)}}:trimmed`;
}

/**
 * Hash that gateways build (docs/design/admission.md); account adds usage from elsewhere, or deletes it
 * (docs/design/counting.md). Its fields are
 * `data_set`, `usage_version`, `counters`, `shares` while gateways hold shares that depend on it, `instants` of the
 * payer's credits that lie ahead (Unix ms, ascending, separated by spaces), `cut:<ms>`: the points at such an instant,
 * and, once a call was held to a budget, `budgets` and a field for each such budget (liveBudgetField). Once shares have
 * covered callers with budgets: `shared_budgets`, and for each budget `shared:` and that field.
 */
export function usageLiveKey(shard: number, periodId: number): string {
  return `{s${String(shard)}}:live:${String(periodId)}`;
}

/**
 * The field `counters` of live counters, for Lua's `struct`: points, requests, time_ms and traffic_bytes as doubles,
 * which are exact up to MAX_TOTAL. Four fields made a settlement a sixth more expensive.
 */
export const LIVE_COUNTERS = '<dddd';

export type BudgetKind = 'application' | 'member';

/** Of live counters: what an application, or the account of a member, has spent. */
export function liveBudgetField(kind: BudgetKind, id: number | string): string {
  return `budget:${kind}:${String(id)}`;
}

/** Removes what live counters have of budgets, after a change that concerns others than gateways count. */
export const LUA_FORGET_BUDGETS = `
local function forget_budgets(key)
  for _, name in ipairs(redis.call('HKEYS', key)) do
    if string.find(name, '^budget') then redis.call('HDEL', key, name) end
  end
end
`;

/**
 * Tells gateways about their shares of a payer's limits (docs/design/admission.md): `<payer id>` asks for them back,
 * and
 * `refresh <payer id>` says that the period's usage has changed.
 */
export const SHARE_CHANNEL = 'gateway:shares';

/** Newest `usage_version` that account has published; no live counters are built from an older snapshot. */
export function usageVersionKey(shard: number, periodId: number): string {
  return `{s${String(shard)}}:usage-version:${String(periodId)}`;
}

/** Stated by account; absent from one that doesn't know lanes, whose lanes are the shards. */
export const usageLaneSchema = z
  .int()
  .min(0)
  .max(USAGE_SHARD_COUNT - 1);

/** Its value is a JSON usage batch. */
export const USAGE_BATCH_FIELD = 'batch';

/** Plausible maximum: account sets events beyond it aside, and gateways ignore such an `X-Points`. */
export const MAX_EVENT_COUNTER = 1e12;

/** Of one event: the operations with the most points; the others are counted together. */
export const MAX_OPERATIONS_PER_EVENT = 20;

/** SHA-256 of a document without its literals, in hex. */
export const OPERATION_HASH = /^[0-9a-f]{64}$/;

const comparedSchema = z.object({
  requests: z.int().min(0),
  points: z.int().min(0),
  estimated_points: z.int().min(0),
  /** Of these, what cost more than its estimate, and by how much. */
  exceeding_requests: z.int().min(0),
  excess_points: z.int().min(0),
});

export type ComparedPrices = z.infer<typeof comparedSchema>;

const usedOperationSchema = z.object({
  /** Null: others, together. */
  hash: z.string().regex(OPERATION_HASH).nullable(),
  /** As the document names it; null if it doesn't. */
  name: z.string().regex(OPERATION_NAME).nullable(),
  points: z.int().min(0),
  requests: z.int().min(0),
  /** Requests that were answered with a status of 400 or above, or whose answer broke off. */
  errors: z.int().min(0),
  durations: durationCountsSchema,
  /** Of requests with an estimate for which the data API stated a price; absent without one. */
  compared: comparedSchema.optional().catch(undefined),
});

export type UsedOperation = z.infer<typeof usedOperationSchema>;

/** Calls of one application, account, API version and hour, summed in a batch (docs/design/settlement.md). */
export const usageEventSchema = z.object({
  payer_id: z.int(),
  period_id: z.int(),
  account_id: z.int(),
  application_id: z.int(),
  api_version: z.enum(['v1', 'v2']),
  points: z.int().min(0),
  /** 0 for a further part of an open call. */
  requests: z.int().min(0),
  /** Of open subscriptions; 0 for other calls. */
  time_ms: z.int().min(0),
  /** Of response bodies sent to the caller. */
  traffic_bytes: z.int().min(0),
  /** When the first of the calls finished, which decides the hourly row. */
  at_ms: z.int().min(0),
  /**
   * What is part of the sums above and known by operation. Optional: gateways of earlier versions state none, and an
   * unreadable value must not cost the event.
   */
  operations: z
    .array(usedOperationSchema)
    .max(MAX_OPERATIONS_PER_EVENT + 1)
    .optional()
    .catch(undefined),
});

export type UsageEvent = z.infer<typeof usageEventSchema>;

/** 2^53 - 1, which a JSON number states exactly. account counts nothing beyond it. */
export const MAX_TOTAL = Number.MAX_SAFE_INTEGER;

export type UsageCounters = Pick<UsageEvent, 'points' | 'requests' | 'time_ms' | 'traffic_bytes'>;

export function addCounters(sum: UsageCounters, more: UsageCounters): void {
  sum.points += more.points;
  sum.requests += more.requests;
  sum.time_ms += more.time_ms;
  sum.traffic_bytes += more.traffic_bytes;
}

const HOUR_MS = 3_600_000;

export function usageHour(atMs: number): number {
  return Math.floor(atMs / HOUR_MS) * HOUR_MS;
}

/** A gateway process' earlier batches in the stream: shows exactly what Redis has lost (docs/design/counting.md). */
export const writtenBeforeSchema = z.object({
  batches: z.int().min(0),
  requests: z.int().min(0),
  points: z.int().min(0),
  at_ms: z.int().min(0),
});

export type WrittenBefore = z.infer<typeof writtenBeforeSchema>;

/** Of a document without its literals; longer ones are counted, but not kept. */
export const KEPT_DOCUMENT_MAX_LENGTH = 16_384;

const operationDocumentSchema = z.object({
  hash: z.string().regex(OPERATION_HASH),
  text: z.string().min(1).max(KEPT_DOCUMENT_MAX_LENGTH),
});

export type OperationDocument = z.infer<typeof operationDocumentSchema>;

/** (gateway_id, seq) stays the same when a batch is sent again, so that it is counted once. */
export const usageBatchSchema = z.object({
  gateway_id: z.string(),
  seq: z.int().min(1),
  /** Optional: an unreadable value must not cost the batch. */
  before: writtenBeforeSchema.optional().catch(undefined),
  /** Documents of operations of the events that the process hasn't sent lately. */
  documents: z.array(operationDocumentSchema).optional().catch(undefined),
  events: z.array(usageEventSchema).min(1),
});

export type UsageBatch = z.infer<typeof usageBatchSchema>;

/** What an application or a member has spent, dated by events' `at_ms` as the hourly rows are. */
const spentSchema = z.object({
  /** Of the period. */
  points: z.int().min(0),
  /** Of the payer, whichever its period: UTC days with points, in order, none before the previous day. */
  days: z.array(z.object({ day: z.iso.date(), points: z.int().min(0) })),
});

export type Spent = z.infer<typeof spentSchema>;

/** Response of `GET /private/usage-snapshots/{period_id}`: counters and stream position of one moment. */
export const usageSnapshotSchema = z.object({
  period_id: z.int(),
  payer_id: z.int(),
  usage_lane: usageLaneSchema.optional(),
  /** How many there are. */
  usage_lanes: z.int().min(1).max(USAGE_SHARD_COUNT).optional(),
  points: z.int().min(0),
  requests: z.int().min(0),
  time_ms: z.int().min(0),
  traffic_bytes: z.int().min(0),
  /** Of the lane's stream. */
  stream_position: z.string().regex(/^\d{1,20}-\d{1,20}$/),
  /** Grows with usage that came by no stream. */
  usage_version: z.int().min(0),
  /**
   * The period's points from entries with an ID before each instant of the payer's credits that `stream_position` has
   * passed: instants that aren't settled yet, and those settled within the last hour, because gateways may still use
   * an older entitlement. 0 points for an instant before the period began. Absent without credits.
   */
  cuts: z.array(z.object({ at_ms: z.int().min(0), points: z.int().min(0) })).optional(),
  /** Of the `application_id` and the `account_id` that the request names. */
  budgets: z.object({ application: spentSchema.optional(), member: spentSchema.optional() }).optional(),
});

export type UsageSnapshot = z.infer<typeof usageSnapshotSchema>;
