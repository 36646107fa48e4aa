import { z } from 'zod';
import { planLimitsSchema } from './plan-limits.ts';

/** What account sees of a stack, for `tollgate doctor` (docs/design/operations.md). It contains no secret. */

const instant = z.iso.datetime();
/** Null without TLS. */
const certificateExpiry = instant.nullable();
/** How far account's clock is ahead. */
const clockSkewSec = z.number();

const postgresSchema = z.object({
  version: z.string(),
  clock_skew_sec: clockSkewSec,
  certificate_expires_at: certificateExpiry,
  /** A standby, or a server that was set so: nothing can be written. */
  is_read_only: z.boolean(),
  /** Settings of account's connections that differ from what they set (docs/design/stores.md). */
  setting_faults: z.array(z.object({ name: z.string(), value: z.string(), expected: z.string() })),
  /** What `migrate` has recorded; null before its first run (docs/design/stores.md). */
  schema: z
    .object({
      /** The newest version that has completed its migrations; null during the installation. */
      version: z.string().nullable(),
      oldest_served_version: z.string(),
      /** Compared with account; `too_new` does not serve it. */
      compared: z.enum(['same', 'older', 'newer', 'too_new']),
    })
    .nullable(),
  /** Migrations of this version that were not applied. */
  pending_migrations: z.array(z.string()),
  /** Applied migrations of a newer version. */
  unknown_migrations: z.array(z.string()),
  outboxes: z.array(z.object({ table: z.string(), pending: z.int(), oldest_age_sec: z.number() })),
  /** By the key that seals them: `first` in TOKEN_SEALING_KEYS, an `older` one of them, or `missing` there. */
  sealed_secrets: z.array(
    z.object({
      table: z.string(),
      sealing_key_id: z.string(),
      key: z.enum(['first', 'older', 'missing']),
      secrets: z.int(),
    }),
  ),
  /** How usage is settled with credits. Null before all migrations were applied. */
  closing: z
    .object({
      /** Since when nothing is settled, because Postgres was restored and the usage isn't repaired; else null. */
      stopped_at: instant.nullable(),
      /** How long the oldest step has been due; 0 without any. */
      oldest_due_sec: z.number(),
      /** Accounts whose credits differ from their movements, at most 100. */
      differing_accounts: z.array(z.int()),
    })
    .nullable(),
  /** Null before all migrations were applied. */
  plan_limits: planLimitsSchema.nullable(),
});

const redisServerSchema = z.object({
  address: z.string(),
  /** `master`; `slave` takes no writes. Null if Redis doesn't tell. */
  role: z.string().nullable(),
  version: z.string().nullable(),
  eviction_policy: z.string().nullable(),
  /** Null if Redis doesn't tell. */
  appendonly: z.boolean().nullable(),
  appendfsync: z.string().nullable(),
  certificate_expires_at: certificateExpiry,
});

const redisSchema = z.object({
  clock_skew_sec: clockSkewSec,
  servers: z.array(redisServerSchema),
});

export const healthReportSchema = z.object({
  reported_at: instant,
  version: z.string(),
  public_url: z.string(),
  /** Each is null if account can't reach it. */
  postgres: postgresSchema.nullable(),
  redis: redisSchema.nullable(),
  auth: z.object({ version: z.string().nullable(), is_ready: z.boolean() }).nullable(),
  /** Ids of operators' credentials that have no role in OPERATOR_CREDENTIAL_ROLES, and so are admins'. */
  credentials_without_role: z.array(z.string()).optional(),
  /** Whether operators can sign in by their identity provider, and past it; null without one. */
  operator_sign_in: z.object({ is_provider_reachable: z.boolean(), allows_local: z.boolean() }).nullish(),
  /** Null without Postgres or Redis. */
  usage_streams: z
    .object({
      /** Age of the oldest entry that isn't counted. */
      oldest_age_sec: z.number(),
      /** Streams whose ids are behind their counted position. */
      behind: z.array(z.string()),
      gaps_of_30_days: z.int(),
    })
    .nullable(),
  /** Null without Postgres, or if payments are not enabled. */
  payments: z
    .object({
      /** Whether the key charges real cards. */
      is_live: z.boolean(),
      /** Events of another mode or account, in the last 30 days. */
      foreign_events: z.int(),
      /** Of the oldest event that isn't handled. */
      oldest_event_sec: z.number(),
      open_issues: z.int(),
      /** The start of the last reconciliation; null before the first. */
      reconciled_at: instant.nullable(),
      /** What it found and corrected. */
      differences: z.int(),
      /** Since when nothing is charged because Postgres was restored; null if it wasn't. */
      restored_at: instant.nullish(),
    })
    .nullish(),
  /** If payments are not enabled: subscriptions that Stripe may go on charging. */
  unattended_subscriptions: z.array(z.string()).nullish(),
});

export type HealthReport = z.infer<typeof healthReportSchema>;
