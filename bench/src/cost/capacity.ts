import { eachPart } from './processes.ts';
import type { CpuUs } from './processes.ts';

/** What was measured (cost.ts), in µs of CPU for one of each, and in bytes. */
export type Costs = {
  call: CpuUs;
  token: CpuUs;
  introspection: CpuUs;
  entitlement: CpuUs;
  /** Each process of ours, with nothing to do, in µs a second. */
  idle: CpuUs;
  /** Redis memory of one live token. */
  tokenBytes: number;
  /** Postgres storage of one hour of one application's usage, with its indexes. */
  hourlyRowBytes: number;
};

/** How the load is assumed to look. What is known of a real one goes here. */
const ASSUMED = {
  /** Calls a second of one application, which has one live token. */
  callsPerApplicationPerSec: 0.1,
  applicationsPerAccount: 2,
  tokenLifespanSec: 3_600,
  /** INTROSPECTION_CACHE_TTL_MS and ENTITLEMENT_CACHE_TTL_MS. */
  cacheTtlSec: 10,
  /** A core is planned to be so busy at most: the rest is for peaks, and for what falls to it when another is lost. */
  busyAtMost: 0.6,
  /** Replicas of a service: one may go. */
  podsAtLeast: 2,
} as const;

export type Plan = {
  callsPerSec: number;
  applications: number;
  tokensPerSec: number;
  introspectionsPerSec: number;
  entitlementsPerSec: number;
  /** Pods of one core each. */
  gatewayPods: number;
  authPods: number;
  accountPods: number;
  /** Masters of a Redis Cluster; each has a core. */
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
 * What so many calls a second need. A gateway's caches are its own, and calls of one token reach any gateway: each
 * of n gateways sees a token 1/n as often, and asks for it again when the cached answer has ended and a call comes.
 */
export function planFor(callsPerSec: number, costs: Costs): Plan {
  const { callsPerApplicationPerSec, applicationsPerAccount, tokenLifespanSec, podsAtLeast } = ASSUMED;
  const applications = callsPerSec / callsPerApplicationPerSec;
  const tokensPerSec = applications / tokenLifespanSec;
  const gatewayPods = Math.max(podsAtLeast, coresFor(callsPerSec * costs.call.gateway + costs.idle.gateway));
  const introspectionsPerSec = missesPerSec(applications, callsPerApplicationPerSec, gatewayPods);
  const entitlementsPerSec = missesPerSec(
    applications / applicationsPerAccount,
    callsPerApplicationPerSec * applicationsPerAccount,
    gatewayPods,
  );
  const cpuUs = eachPart(
    (part) =>
      callsPerSec * costs.call[part] +
      tokensPerSec * costs.token[part] +
      introspectionsPerSec * costs.introspection[part] +
      entitlementsPerSec * costs.entitlement[part] +
      costs.idle[part],
  );
  return {
    callsPerSec,
    applications,
    tokensPerSec,
    introspectionsPerSec,
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

/** Look-ups past the caches of all gateways together, of `keys` that are each called at `perSec`. */
function missesPerSec(keys: number, perSec: number, gateways: number): number {
  const perGateway = perSec / gateways;
  return (keys * gateways * perGateway) / (1 + perGateway * ASSUMED.cacheTtlSec);
}

function coresFor(cpuUsPerSec: number): number {
  return Math.max(1, Math.ceil(cpuUsPerSec / (CORE_US * ASSUMED.busyAtMost)));
}
