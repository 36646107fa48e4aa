import { randomUUID } from 'node:crypto';
import type { RefusedCall } from '@tollgate/contracts/refused-call';
import { insertApplication } from '../../access/applications/store.ts';
import { noteApplicationUses } from '../../access/applications/uses.ts';
import { issueToken } from '../../access/tokens/changes.ts';
import type { TokenSettings } from '../../access/tokens/changes.ts';
import { periodAt, periodStart, secondAfter } from '../../billing/periods/calendar.ts';
import { openPeriod } from '../../billing/periods/period-store.ts';
import type { Period } from '../../billing/periods/period-store.ts';
import { insertSubscription } from '../../billing/subscriptions/store.ts';
import { addToHourly, addToTotals } from '../../counting/counters/counters.ts';
import type { HourlyRow } from '../../counting/counters/aggregate.ts';
import { addToOperations, keepDocuments } from '../../counting/operations/store.ts';
import { sumOperations } from '../../counting/operations/sum-operations.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { storeRefusalCounts } from '../../refusals/count-store.ts';
import { storeRefusedCalls } from '../../refusals/store.ts';
import { SAMPLE_DOCUMENTS, sampleOperations } from './sample-operations.ts';
import { sampleUsage } from './sample-usage.ts';
import type { SampleCaller } from './sample-usage.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The present period began so long ago. */
const DAYS_INTO_THE_PERIOD = 21;

/** Shares of the plan's points that the periods used, the present one last: it has passed its alert at 80 %. */
const USED = [0.58, 0.74, 0.82];

const ALERT_SHARE = 80;

const MANUAL_TOKEN_LIFESPAN_SEC = 90 * 86_400;

type ApplicationIds = Pick<Caller, 'account_id' | 'application_id' | 'client_id'>;

type Sample = { plan_id: number; manager: ApplicationIds; member: ApplicationIds };

type Caller = SampleCaller & { client_id: string };

/** The instants whose partitions `seedHistory` needs. */
export function hoursOfHistory(now: Date): number[] {
  const months = Array.from({ length: USED.length + 1 }, (_, index) => periodStart(now, 'month', -index));
  return months.map((month) => month.getTime());
}

/**
 * The past of a team that sells with the API, for people who look at the product for the first time: two billing
 * periods and one in progress, five applications, manual tokens, an alert, and some refused calls. Nothing of it
 * depends on chance but identifiers.
 */
export async function seedHistory(
  query: Query,
  { plan_id, manager, member }: Sample,
  tokens: Pick<TokenSettings, 'tokenPrefix' | 'sealingKeys'>,
  now: Date,
  by: Actor,
): Promise<void> {
  const periods = await openPeriods(query, { account_id: manager.account_id, plan_id }, now, by);
  const [first] = periods;
  const { callers, partner } = await makeCallers(query, manager, member);
  const rows = periods.flatMap(({ period_id, started_at: from, ended_at, description }, index) => {
    const limit = Number(description['points_limit'] ?? 1_000_000);
    const to = ended_at < now ? ended_at : now;
    return sampleUsage(period_id, { from, to }, limit * (USED[index] ?? 0), callers);
  });
  await storeUsage(query, rows);
  await storeOperations(query, rows, callers, manager.account_id);
  for (const period of periods) await storeAlert(query, period, rows);
  await storeRefusals(query, callers, manager.account_id, now);
  await makeTokens(query, partner, tokens, now, by);
  await setBack(query, [manager.account_id, member.account_id], first?.started_at ?? now);
}

/** Those of a monthly subscription, oldest first. */
async function openPeriods(
  query: Query,
  { account_id, plan_id }: { account_id: number; plan_id: number },
  now: Date,
  by: Actor,
): Promise<Period[]> {
  const start = new Date(now.getTime() - DAYS_INTO_THE_PERIOD * DAY_MS);
  const anchor = periodStart(start, 'month', 1 - USED.length);
  const wanted = { account_id, plan_id, billing_interval: 'month', team_slots_limit: null } as const;
  const renews_at = secondAfter(periodAt(anchor, 'month', now));
  const { subscription_id } = await insertSubscription(query, { ...wanted, anchor, renews_at });
  const { billing_interval, team_slots_limit } = wanted;
  const details = { subscription_id, plan_id, billing_interval, team_slots_limit };
  await recordAudit(query, {
    ...by,
    account_id,
    application_id: null,
    action: 'subscription_created',
    details,
  });
  const periods: Period[] = [];
  for (const index of USED.keys()) {
    const times = periodAt(anchor, 'month', periodStart(anchor, 'month', index));
    periods.push(await openPeriod(query, { ...wanted, ...times, subscription_id, blocked_at: null }));
  }
  return periods;
}

/** The sample's two applications, whose secrets are printed, and three that only have a past. */
async function makeCallers(
  query: Query,
  manager: Sample['manager'],
  member: Sample['member'],
): Promise<{ callers: Caller[]; partner: ApplicationIds }> {
  const { account_id } = manager;
  const further = async (name: string, type: 'automatic' | 'manual', token_lifespan_sec: number) =>
    insertApplication(query, { account_id, name, type, token_lifespan_sec, client_id: randomUUID() });
  const mobile = await further('Mobile app', 'automatic', 86_400);
  const reports = await further('Nightly reports', 'automatic', 86_400);
  const partner = await further('Partner feed', 'manual', MANUAL_TOKEN_LIFESPAN_SEC);
  const callers: Caller[] = [
    { ...idsOf(manager), api_version: 'v2', share: 0.47, rhythm: 'backend', pointsPerRequest: 4 },
    { ...idsOf(mobile), api_version: 'v1', share: 0.26, rhythm: 'people', pointsPerRequest: 3 },
    { ...idsOf(reports), api_version: 'v2', share: 0.12, rhythm: 'nightly', pointsPerRequest: 40 },
    { ...idsOf(partner), api_version: 'v2', share: 0.06, rhythm: 'backend', pointsPerRequest: 5 },
    { ...idsOf(member), api_version: 'v2', share: 0.09, rhythm: 'people', pointsPerRequest: 6 },
  ];
  return { callers, partner };
}

function idsOf({ account_id, application_id, client_id }: ApplicationIds): ApplicationIds {
  return { account_id, application_id, client_id };
}

async function storeUsage(query: Query, rows: readonly HourlyRow[]): Promise<void> {
  await addToHourly(query, rows);
  const totals = [...Map.groupBy(rows, ({ period_id }) => period_id)].map(([period_id, of]) => ({
    period_id,
    points: sum(of, 'points'),
    requests: sum(of, 'requests'),
    time_ms: sum(of, 'time_ms'),
    traffic_bytes: sum(of, 'traffic_bytes'),
  }));
  await addToTotals(query, totals);
  const uses = rows.map(({ application_id, hour_ms }) => ({ application_id, at_ms: hour_ms + HOUR_MS / 2 }));
  await noteApplicationUses(query, uses);
}

async function storeOperations(
  query: Query,
  rows: readonly HourlyRow[],
  callers: readonly Caller[],
  payer_id: number,
): Promise<void> {
  const rhythms = new Map(callers.map(({ application_id, rhythm }) => [application_id, rhythm]));
  const events = rows.map((row) => ({
    ...row,
    payer_id,
    at_ms: row.hour_ms,
    operations: sampleOperations(rhythms.get(row.application_id) ?? 'backend', row),
  }));
  await addToOperations(query, sumOperations(events));
  await keepDocuments(query, SAMPLE_DOCUMENTS);
}

function sum(
  rows: readonly HourlyRow[],
  counter: 'points' | 'requests' | 'time_ms' | 'traffic_bytes',
): number {
  return rows.reduce((total, row) => total + row[counter], 0);
}

/** The alert that the notifications would have made; they make each once. */
async function storeAlert(
  query: Query,
  { period_id, account_id, description }: Period,
  all: readonly HourlyRow[],
) {
  const limit = Number(description['points_limit'] ?? 0);
  const rows = all.filter((row) => row.period_id === period_id).toSorted((a, b) => a.hour_ms - b.hour_ms);
  let used = 0;
  const passing = rows.find(({ points }) => (used += points) * 100 >= limit * ALERT_SHARE);
  if (limit === 0 || passing === undefined) return;
  await query(
    `INSERT INTO usage_alerts (account_id, period_id, limit_name, share, used, limit_value, created_at)
     VALUES (:account_id, :period_id, 'points_limit', :share, :used, :limit, :at)`,
    { account_id, period_id, share: ALERT_SHARE, used, limit, at: new Date(passing.hour_ms + HOUR_MS) },
  );
}

/** A burst of the mobile app that was too fast, and calls that the data API itself answered with an error. */
async function storeRefusals(
  query: Query,
  callers: readonly Caller[],
  payer_id: number,
  now: Date,
): Promise<void> {
  const [backend, mobile] = callers;
  if (backend === undefined || mobile === undefined) return;
  const calls = [
    ...refusedCalls(
      { ...mobile, payer_id },
      { code: 'rate_limit_exceeded', status: 429 },
      14,
      now.getTime() - 3 * HOUR_MS,
    ),
    ...refusedCalls(
      { ...backend, payer_id },
      { code: 'upstream_error', status: 502 },
      3,
      now.getTime() - 27 * HOUR_MS,
    ),
  ];
  // The records join the transaction that they are part of.
  const transact: Transact = (work) => work(query);
  await storeRefusedCalls(transact, calls);
  const counts = calls.map(({ code, account_id, application_id, client_id, at_ms }) => ({
    code,
    account_id,
    payer_id,
    application_id,
    client_id,
    hour_ms: at_ms - (at_ms % HOUR_MS),
    last_at_ms: at_ms,
    calls: 1,
  }));
  await storeRefusalCounts(transact, [{ gateway_id: randomUUID(), seq: 1, counts }]);
}

function refusedCalls(
  { account_id, payer_id, application_id, client_id, api_version }: Caller & { payer_id: number },
  { code, status }: Pick<RefusedCall, 'code' | 'status'>,
  count: number,
  from: number,
): RefusedCall[] {
  return Array.from({ length: count }, (_, index) => ({
    request_id: randomUUID().replaceAll('-', ''),
    seq: 1,
    at_ms: from + index * 180,
    kind: 'call',
    code,
    status,
    account_id,
    payer_id,
    application_id,
    client_id,
    address: '203.0.113.20',
    api_version,
    operation_name: null,
    duration_ms: status === 429 ? 1 : 240,
    points: 0,
    detail: null,
    unrecorded_before: 0,
  }));
}

/** One that is used and one that never was. */
async function makeTokens(
  query: Query,
  { application_id, account_id }: ApplicationIds,
  settings: Pick<TokenSettings, 'tokenPrefix' | 'sealingKeys'>,
  now: Date,
  by: Actor,
): Promise<void> {
  const uses = [
    { name: 'Acme integration', last_used_at: new Date(now.getTime() - 2 * HOUR_MS) },
    { name: 'Trial for Globex', last_used_at: null },
  ];
  for (const { name, last_used_at } of uses) {
    const wanted = { application_id, owner_id: account_id, name };
    const { token } = await issueToken(
      query,
      wanted,
      { ...settings, maxTokensPerApplication: uses.length },
      by,
    );
    await query(
      `UPDATE access_tokens SET last_used_at = :last_used_at, issued_at = issued_at - interval '30 days',
         expires_at = expires_at - interval '30 days' WHERE token_id = :token_id`,
      { token_id: token.token_id, last_used_at },
    );
  }
}

/** The accounts, their team and applications have been there since the first period. */
async function setBack(query: Query, accountIds: readonly number[], since: Date): Promise<void> {
  const set = { accountIds, since };
  await query(
    'UPDATE accounts SET created_at = :since WHERE account_id = ANY (CAST(:accountIds AS bigint[]))',
    set,
  );
  await query(
    'UPDATE applications SET created_at = :since WHERE account_id = ANY (CAST(:accountIds AS bigint[]))',
    set,
  );
  await query(
    'UPDATE team_members SET joined_at = :since WHERE account_id = ANY (CAST(:accountIds AS bigint[]))',
    set,
  );
  await query(
    `UPDATE teams SET created_at = :since WHERE team_id IN (
       SELECT team_id FROM team_members WHERE account_id = ANY (CAST(:accountIds AS bigint[])))`,
    set,
  );
}
