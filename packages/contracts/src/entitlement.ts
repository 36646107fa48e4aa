import { z } from 'zod';

/** Limit fields of a billing period, in the source specification's order and units. */
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

/** Status of a billing period, derived at the moment of asking (source specification, part 3). */
export const billingStatusSchema = z.enum(['active', 'grace', 'blocked', 'expired']);

export type BillingStatus = z.infer<typeof billingStatusSchema>;

/**
 * Answer of account's `GET /private/entitlements/{account_id}`: who pays for a caller and whether its calls
 * may pass. An account that never had a billing period has no period, and `status: "none"`, or `"blocked"` where
 * it or its payer is blocked. Unknown accounts are 404 `not_found`.
 */
export const entitlementSchema = z.object({
  account_id: z.int(),
  /** The account that owns the billing period: the team manager's for a member, else the caller's own. */
  payer_id: z.int(),
  status: z.enum([...billingStatusSchema.options, 'none']),
  /** The next moment at which time alone changes this answer; a cache may not keep it longer. */
  valid_until: z.iso.datetime().nullable(),
  /**
   * The time left until then as the answer was made, by the clock that decided it: what a cache counts by, so
   * that its own clock may be wrong. Missing from an account of the version before.
   */
  valid_for_ms: z.int().min(0).nullable().optional(),
  billing_period: z
    .object({
      period_id: z.int(),
      /** The period's last second, inclusive; a grace window comes after it. */
      ended_at: z.iso.datetime(),
      /** A limit is null where the plan's description doesn't contain it: it is not enforced. */
      limits: z.record(z.enum(LIMIT_FIELDS), z.int().min(0).nullable()),
    })
    .nullable(),
});

export type Entitlement = z.infer<typeof entitlementSchema>;

/** Limits of a billing period; null where the plan's description doesn't contain one: it is not enforced. */
export type Limits = Readonly<Record<LimitField, number | null>>;

/**
 * The Redis channel on which account tells everyone who keeps entitlements which of them are out of date. Pub/sub
 * loses what is said while a subscriber is away, so the rules of REVOCATION_CHANNEL hold: a subscriber drops all
 * that it keeps when it (re)subscribes, and keeps nothing while it isn't subscribed.
 */
export const ENTITLEMENT_CHANNEL = 'account:entitlements';

/**
 * A message on that channel, as JSON: every entitlement whose account_id or payer_id is this one is out of date.
 * The same may be said more than once. A subscriber that can't read a message drops all that it keeps.
 */
export const entitlementEventSchema = z.object({ account_id: z.int() });

export type EntitlementEvent = z.infer<typeof entitlementEventSchema>;
