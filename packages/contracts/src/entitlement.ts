import { z } from 'zod';
import { usageLaneSchema } from './usage-stream.ts';

/** In the source specification's order and units. */
export const LIMIT_FIELDS = [
  'points_limit',
  'rate_limit',
  'session_limit',
  'subscription_limit',
  'time_sec_limit',
  'traffic_bytes_limit',
  'team_slots_limit',
] as const;

export type LimitField = (typeof LIMIT_FIELDS)[number];

/** Derived when asked for (source specification, part 3). */
export const billingStatusSchema = z.enum(['active', 'grace', 'blocked', 'expired']);

export type BillingStatus = z.infer<typeof billingStatusSchema>;

/** What a period's plan includes, and how much of the use beyond that is already taken from grants or forgiven. */
const coveredPointsSchema = z.object({ included: z.int().min(0), settled: z.int().min(0) });

/**
 * A grant of points as far as gateways need it. Instants are Unix times in ms by Redis' clock.
 * An instant is stated until account has settled the use before it, and no longer, so each one that is stated and has
 * passed is still to be allocated.
 */
const usableGrantSchema = z.object({
  /** What was left when account settled last. */
  points: z.int().min(0),
  /** Usable from this instant; null if use since the last settlement can be taken from it. */
  from_ms: z.int().min(0).nullable(),
  /** Usable until just before this instant, its expiry or void; null if it has no end. */
  until_ms: z.int().min(0).nullable(),
});

/**
 * The payer's credits (docs/design/admission.md). Credits are used for what a period's points exceed
 * `included + settled`, summed over this period and the open ones.
 */
export const creditsSchema = coveredPointsSchema.extend({
  /** Periods of the payer that have ended and aren't closed, at most the newest four, if their points are limited. */
  open_periods: z.array(coveredPointsSchema.extend({ period_id: z.int() })).max(4),
  /** In order of use. Also those that begin before the period's end of use, and those whose end isn't settled yet. */
  grants: z.array(usableGrantSchema),
});

export type Credits = z.infer<typeof creditsSchema>;

/** What may be spent of the payer's points (docs/design/budgets.md). Null isn't limited; 0 allows nothing. */
export const budgetSchema = z.object({
  points_per_period: z.int().min(0).nullable(),
  /** A UTC day. */
  points_per_day: z.int().min(0).nullable(),
});

export type Budget = z.infer<typeof budgetSchema>;

const budgetsSchema = z.object({
  /** The account's own, which the manager of its team has set. */
  member: budgetSchema.optional(),
  /** Of the account's applications that have one: the lower of the owner's and the manager's figures. */
  applications: z
    .array(budgetSchema.extend({ application_id: z.int() }))
    .min(1)
    .optional(),
});

export type Budgets = z.infer<typeof budgetsSchema>;

const wholeNumber = z.int().min(0);

/**
 * Attributes of a plan that hold for each call (docs/design/price.md). One that the plan lacks isn't enforced, or is the
 * gateway's setting of the same name.
 */
export const callRulesSchema = z
  .object({
    /** The most that one operation may cost by its estimate; 0 allows none. */
    points_per_call_limit: wholeNumber,
    /** Whether calls are admitted only if the points left cover their estimates. */
    strict_points: z.boolean(),
    /** The guards; 0 turns one off. */
    graphql_max_depth: wholeNumber,
    graphql_max_aliases: wholeNumber,
    graphql_max_root_fields: wholeNumber,
    graphql_max_directives: wholeNumber,
    graphql_max_tokens: wholeNumber,
    /** 0 refuses batches. */
    graphql_batch_limit: wholeNumber,
    graphql_introspection: z.boolean(),
    /** Whether agents may call by MCP; without it they may. */
    mcp: z.boolean(),
    /** Whether they may run mutations, with the scope for it; without it they may not. */
    mcp_mutations: z.boolean(),
    /** As `points_per_call_limit`, of what they run. */
    mcp_points_per_call_limit: wholeNumber,
  })
  .partial();

export type CallRules = z.infer<typeof callRulesSchema>;

/** An application that only runs the documents that are registered for it. */
const limitedApplicationSchema = z.object({
  application_id: z.int(),
  /** Grows with each change of its documents. */
  documents_revision: z.int().min(1),
});

export type LimitedApplication = z.infer<typeof limitedApplicationSchema>;

/** Response of `GET /private/entitlements/{account_id}`. `status` is `none` or `blocked` without a period. */
export const entitlementSchema = z.object({
  account_id: z.int(),
  /** The team manager's account for a member, else the caller's own. */
  payer_id: z.int(),
  status: z.enum([...billingStatusSchema.options, 'none']),
  /** When time alone changes the entitlement; a cache may not keep it longer. */
  valid_until: z.iso.datetime().nullable(),
  /** Until `valid_until` by the server's clock, as a cache's may be wrong; null with it. */
  valid_for_ms: z.int().min(0).nullable(),
  /** With `blocked`, if that is because a payment is due: where the payer can make it. */
  pay_url: z.url().optional(),
  /** Absent without one. */
  limited_applications: z.array(limitedApplicationSchema).min(1).optional(),
  billing_period: z
    .object({
      period_id: z.int(),
      /** Inclusive; the grace window follows. */
      ended_at: z.iso.datetime(),
      /** A null limit isn't enforced. With `credits`, `points_limit` is for display, and `credits` are enforced. */
      limits: z.record(z.enum(LIMIT_FIELDS), z.int().min(0).nullable()),
      usage_lane: usageLaneSchema.optional(),
      /** Absent if the payer has no grant, or the period's points aren't limited. */
      credits: creditsSchema.optional(),
      /** Absent if neither the account nor one of its applications has one. */
      budgets: budgetsSchema.optional(),
      /** Absent if the plan has none. */
      call_rules: callRulesSchema.optional(),
      /** Where the payer can buy points; absent without payments. */
      buy_url: z.url().optional(),
    })
    .nullable(),
});

export type Entitlement = z.infer<typeof entitlementSchema>;

/**
 * Raise it with what gateways enforce from an entitlement: an answer that account of another version keeps lacks it, so it
 * isn't read (docs/design/entitlement.md). 0.1.0 stated none.
 */
export const ENTITLEMENT_SHAPE = 2;

/** As account keeps it (entitlementKey). */
export const keptEntitlementSchema = entitlementSchema.extend({ shape: z.literal(ENTITLEMENT_SHAPE) });

export type KeptEntitlement = z.infer<typeof keptEntitlementSchema>;

export type Limits = Readonly<Record<LimitField, number | null>>;

/**
 * Where account keeps an entitlement that lets calls pass, for gateways to read: a hash that only account writes
 * (docs/design/entitlement.md). Its fields:
 *
 * - `generation`: `<data set>:<id>`, drawn before Postgres is read, and deleted with the key by each change. Of another
 *   data set than Redis' own it counts as missing, because later changes may be.
 * - `answer`: the KeptEntitlement as JSON, stored only while the generation under which it was read is still there.
 * - `kept_for_ms`: the key's time to live when Postgres was asked; less what is left of it, it is the answer's age by
 *   Redis' clock.
 */
export function entitlementKey(accountId: number): string {
  return `account:entitlement:{${String(accountId)}}`;
}

/** account publishes here which entitlements are out of date. The rules of CLIENT_CHANGE_CHANNEL apply. */
export const ENTITLEMENT_CHANNEL = 'account:entitlements';

/** Entitlements with this account_id or payer_id are out of date. An unreadable message ends all. */
export const entitlementEventSchema = z.object({ account_id: z.int() });

export type EntitlementEvent = z.infer<typeof entitlementEventSchema>;
