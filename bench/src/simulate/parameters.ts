import { USAGE_SHARD_COUNT } from '@tollgate/contracts/usage-stream';

/** Once a payer has had `fromCalls` at a gateway in an interval, one script per interval admits all its calls there. */
export type LeasedAdmission = { intervalMs: number; fromCalls: number };

export type Parameters = {
  seed: number;
  accounts: number;
  /** An account's load is 1 / rank^exponent of the largest one's. */
  zipfExponent: number;
  applicationsPerAccount: number;
  /** Each application has one live token. */
  tokenLifespanSec: number;
  /** `token`: all calls of a token reach the same gateway, unless that has too many. */
  balancing: 'random' | 'token';
  /** With `token`: of the mean of calls under way at a gateway. Null for no bound. */
  gatewayLoadAtMost: number | null;
  /** How long a call is under way at a gateway. */
  callMs: number;
  cacheTtlSec: number;
  /** Of each gateway. */
  introspectionCacheEntries: number;
  entitlementCacheEntries: number;
  /** Calls of a payer that a gateway admits within a turn share a script. */
  turnMs: number;
  /**
   * Until Redis has a batch on disk, or SETTLEMENT_INTERVAL_MS if that is longer: a gateway's calls to the same stream
   * wait meanwhile and share the next batch.
   */
  settlementMs: number;
  leasedAdmission: LeasedAdmission | null;
  /** The reader writes an hourly row once per step. */
  readerStepMs: number;
  streams: number;
  /** Leaves room for peaks, and for the load of a core that is lost. */
  busyAtMost: number;
  /** One replica may be lost. */
  podsAtLeast: number;
  /** Of the largest machine for the only Postgres that writes. */
  postgresCoresAtMost: number;
  keptEntitlementBytes: number;
  /** Bounds the simulated time. */
  simulatedCalls: number;
};

/** From when a gateway takes a share, and how often it renews it (docs/design/admission.md). */
const SHARES: LeasedAdmission = { intervalMs: 300, fromCalls: 3 };

/** Today's settings and defaults. Replace the load by your own, where known. */
export const PARAMETERS: Parameters = {
  seed: 1,
  accounts: 500_000,
  zipfExponent: 1,
  applicationsPerAccount: 2,
  tokenLifespanSec: 3_600,
  // docs/load-balancing.md.
  balancing: 'token',
  gatewayLoadAtMost: 1.25,
  callMs: 20,
  // INTROSPECTION_CACHE_TTL_MS, ENTITLEMENT_CACHE_TTL_MS, and their *_MAX_ENTRIES.
  cacheTtlSec: 300,
  introspectionCacheEntries: 100_000,
  entitlementCacheEntries: 100_000,
  turnMs: 0.5,
  settlementMs: 1,
  leasedAdmission: SHARES,
  // USAGE_POLL_INTERVAL_MS.
  readerStepMs: 500,
  streams: USAGE_SHARD_COUNT,
  busyAtMost: 0.6,
  podsAtLeast: 2,
  postgresCoresAtMost: 32,
  // docs/design/entitlement.md.
  keptEntitlementBytes: 500,
  simulatedCalls: 1_500_000,
};

export const SIMULATED_CALLS_PER_SEC = [10_000, 100_000, 1_000_000] as const;

/** At which of these loads each change is simulated. */
export const CHANGED_CALLS_PER_SEC: ReadonlySet<number> = new Set([100_000, 1_000_000]);

/** For large installations: calls end, and usage is shown, that much later. */
const SPARING = { settlementMs: 80, readerStepMs: 2_500 };

/** Each is simulated by itself. */
export const CHANGES: readonly (readonly [what: string, change: Partial<Parameters>])[] = [
  ['caches of 1,000,000 entries', { introspectionCacheEntries: 1e6, entitlementCacheEntries: 1e6 }],
  ['calls balanced at random', { balancing: 'random' }],
  ['calls balanced by token, without a bound', { gatewayLoadAtMost: null }],
  ['without shares of limits (ADR 0070)', { leasedAdmission: null }],
  ['`SETTLEMENT_INTERVAL_MS=20`', { settlementMs: 20 }],
  ['`USAGE_POLL_INTERVAL_MS=1000`', { readerStepMs: 1_000 }],
  ['`SETTLEMENT_INTERVAL_MS=80`, `USAGE_POLL_INTERVAL_MS=2500`', SPARING],
  ['even load', { zipfExponent: 0 }],
  ['even load, with these two', { ...SPARING, zipfExponent: 0 }],
];
