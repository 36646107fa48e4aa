import { readFileSync, writeFileSync } from 'node:fs';
import { USAGE_SHARD_COUNT } from '@tollgate/contracts/usage-stream';
import { table } from '../report/table.ts';
import { planFor } from './capacity.ts';
import type { Costs, Plan } from './capacity.ts';
import { SYSTEM_PARTS } from './processes.ts';
import type { CpuUs } from './processes.ts';

const PLANNED_CALLS_PER_SEC = [1_000, 10_000, 100_000];

const [BEGIN, END] = ['<!-- written by npm run bench -- cost -->', '<!-- end -->'];

/** Replaces only the tables between the two marks of docs/capacity.md. */
export function writeCapacityPage(file: string, costs: Costs): void {
  writeFileSync(file, withTables(readFileSync(file, 'utf8'), costs));
}

/** @throws {Error} if a mark is missing */
export function withTables(page: string, costs: Costs): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`the page has no ${BEGIN} … ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${capacityTables(costs)}\n\n${page.slice(end)}`;
}

function capacityTables(costs: Costs): string {
  const works: [string, CpuUs][] = [
    ['a data call', costs.call],
    ['a token', costs.token],
    ['an introspection', costs.introspection],
    ['an entitlement read in Redis', costs.keptEntitlement],
    ['an entitlement asked of account', costs.entitlement],
    ['a second idle', costs.idle],
  ];
  const costTable = table([
    ['CPU-µs of', ...SYSTEM_PARTS],
    ...works.map(([what, cpu]) => [what, ...SYSTEM_PARTS.map((part) => cpu[part].toFixed(1))]),
  ]);
  const plans = PLANNED_CALLS_PER_SEC.map((callsPerSec) => planFor(callsPerSec, costs));
  const planTable = table([
    ['calls/s', ...plans.map((plan) => whole(plan.callsPerSec))],
    ...ROWS.map(([what, cell]) => [what, ...plans.map(cell)]),
  ]);
  return `${costTable}\n\nA live token takes ${costs.tokenBytes.toFixed(0)} bytes in Redis, an application's hour of usage ${costs.hourlyRowBytes.toFixed(0)} bytes in Postgres.\n\n${planTable}`;
}

const ROWS: readonly [string, (plan: Plan) => string][] = [
  ['applications, each with a live token', (plan) => whole(plan.applications)],
  ['tokens/s', (plan) => whole(plan.tokensPerSec)],
  ['introspections/s', (plan) => whole(plan.introspectionsPerSec)],
  ['entitlements read in Redis/s', (plan) => whole(plan.keptEntitlementsPerSec)],
  ['entitlements asked of account/s', (plan) => whole(plan.entitlementsPerSec)],
  ['**gateway pods** of 1 core', (plan) => whole(plan.gatewayPods)],
  ['**auth pods** of 1 core', (plan) => whole(plan.authPods)],
  ['**account pods** of 1 core', (plan) => whole(plan.accountPods)],
  ['**Redis shards** (masters)', shards],
  ['Redis memory for tokens, all shards', (plan) => `${whole(plan.redisTokenMib)} MiB`],
  ['**Postgres cores**', (plan) => whole(plan.postgresCores)],
  ['Postgres, hourly usage a month', (plan) => `${plan.postgresGibPerMonth.toFixed(1)} GiB`],
];

function shards({ redisShards }: Plan): string {
  return redisShards > USAGE_SHARD_COUNT
    ? `${whole(redisShards)}: more than the ${String(USAGE_SHARD_COUNT)} that usage is spread over`
    : whole(redisShards);
}

function whole(value: number): string {
  return String(Math.round(value));
}
