import { eachPart } from './processes.ts';
import type { CpuUs } from './processes.ts';

/** From cost.ts: µs of CPU per unit, and bytes. */
export type Costs = {
  call: CpuUs;
  token: CpuUs;
  introspection: CpuUs;
  /** That a gateway reads in Redis, where account keeps it (ADR 0069). */
  keptEntitlement: CpuUs;
  /** That account is asked for, and keeps in Redis. */
  entitlement: CpuUs;
  /** µs a second of each idle process. */
  idle: CpuUs;
  /** Redis memory of a live token. */
  tokenBytes: number;
  /** An hour of one application's usage in Postgres, indexes included. */
  hourlyRowBytes: number;
};

/** Replace these by figures of the real load, where known. */
const ASSUMED = {
  /** Each application has one live token. */
  callsPerApplicationPerSec: 0.1,
  applicationsPerAccount: 2,
  tokenLifespanSec: 3_600,
  /** INTROSPECTION_CACHE_TTL_MS and ENTITLEMENT_CACHE_TTL_MS. */
  cacheTtlSec: 300,
  /** Leaves room for peaks, and for the load of a core that is lost. */
  busyAtMost: 0.6,
  /** One replica may be lost. */
  podsAtLeast: 2,
} as const;

export type Plan = {
  callsPerSec: number;
  applications: number;
  tokensPerSec: number;
  introspectionsPerSec: number;
  keptEntitlementsPerSec: number;
  entitlementsPerSec: number;
  gatewayPods: number;
  authPods: number;
  accountPods: number;
  /** Masters of a Redis Cluster, with one core each. */
  redisShards: number;
  redisTokenMib: number;
  postgresCores: number;
  postgresGibPerMonth: number;
};

const CORE_US = 1_000_000;
const HOURS_PER_MONTH = 30 * 24;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

/**
 * Calls of one token reach any gateway and caches aren't shared, so n gateways see it 1/n as often each. Entitlements
 * are shared in Redis: account is asked as if there were one gateway.
 */
export function planFor(callsPerSec: number, costs: Costs): Plan {
  const { callsPerApplicationPerSec, applicationsPerAccount, tokenLifespanSec, podsAtLeast } = ASSUMED;
  const applications = callsPerSec / callsPerApplicationPerSec;
  const tokensPerSec = applications / tokenLifespanSec;
  const gatewayPods = Math.max(podsAtLeast, coresFor(callsPerSec * costs.call.gateway + costs.idle.gateway));
  const introspectionsPerSec = missesPerSec(applications, callsPerApplicationPerSec, gatewayPods);
  const accounts = applications / applicationsPerAccount;
  const callsPerAccountPerSec = callsPerApplicationPerSec * applicationsPerAccount;
  const keptEntitlementsPerSec = missesPerSec(accounts, callsPerAccountPerSec, gatewayPods);
  const entitlementsPerSec = missesPerSec(accounts, callsPerAccountPerSec, 1);
  const cpuUs = eachPart(
    (part) =>
      callsPerSec * costs.call[part] +
      tokensPerSec * costs.token[part] +
      introspectionsPerSec * costs.introspection[part] +
      keptEntitlementsPerSec * costs.keptEntitlement[part] +
      entitlementsPerSec * costs.entitlement[part] +
      costs.idle[part],
  );
  return {
    callsPerSec,
    applications,
    tokensPerSec,
    introspectionsPerSec,
    keptEntitlementsPerSec,
    entitlementsPerSec,
    gatewayPods,
    authPods: Math.max(podsAtLeast, coresFor(cpuUs.auth)),
    accountPods: Math.max(podsAtLeast, coresFor(cpuUs.account)),
    redisShards: coresFor(cpuUs.Redis),
    redisTokenMib: (applications * costs.tokenBytes) / MIB,
    postgresCores: coresFor(cpuUs.Postgres),
    postgresGibPerMonth: (applications * HOURS_PER_MONTH * costs.hourlyRowBytes) / GIB,
  };
}

function missesPerSec(keys: number, perSec: number, gateways: number): number {
  const perGateway = perSec / gateways;
  return (keys * gateways * perGateway) / (1 + perGateway * ASSUMED.cacheTtlSec);
}

function coresFor(cpuUsPerSec: number): number {
  return Math.max(1, Math.ceil(cpuUsPerSec / (CORE_US * ASSUMED.busyAtMost)));
}
