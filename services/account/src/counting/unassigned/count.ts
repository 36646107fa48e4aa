import type { Knex } from 'knex';
import { addCounters } from '@tollgate/contracts/usage-stream';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { fitsIn } from '../../billing/periods/usage-sums.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { sumHourly, sumTotals } from '../counters/aggregate.ts';
import { addToHourly, addToTotals, findPeriods } from '../counters/counters.ts';
import { ensurePartitions } from '../retention/partitions.ts';
import { enqueueRefreshes } from '../refresh/refresh-outbox.ts';
import { attributeEvents } from '../reports/store.ts';
import { effectiveTime, eventsOf } from './explain.ts';
import type { UnassignedRow } from './explain.ts';
import { findUnassigned } from './store.ts';

/** `changed` is false if it was counted before. */
export type CountOutcome = { row: UnassignedRow; changed: boolean };

/**
 * Counts unassigned usage at most once (docs/design/settlement.md): totals, hourly rows, the row's mark, the audit log
 * and the message to Redis are one transaction. Live counters are rebuilt, since they may include it. The period is the
 * named one, else the event's if it is the payer's, else the payer's at the event's time.
 * @throws {Problem} (the promise) not_found, usage_not_readable, no_billing_period, usage_total_too_large
 */
export function createCountUnassigned(
  database: Knex,
  onCounted: () => void,
): (unassignedId: number, periodId: number | undefined, by: Actor) => Promise<CountOutcome> {
  const query = createQuery(database);
  const transact = createTransact(database);
  return async (unassignedId, periodId, by) => {
    const before = await findUnassigned(query, unassignedId);
    if (before === undefined) throw new Problem('not_found');
    const timed = await timedEvents(query, before);
    await ensurePartitions(
      database,
      timed.map(({ at_ms }) => at_ms),
    );
    const outcome = await transact(async (inside): Promise<CountOutcome> => {
      const row = await findUnassigned(inside, unassignedId, 'FOR UPDATE');
      if (row === undefined) throw new Problem('not_found');
      if (row.counted_at !== null) return { row, changed: false };
      const events = await assignPeriods(inside, timed, periodId);
      await addUsage(inside, events);
      const [first] = events;
      if (first === undefined) throw new Problem('usage_not_readable');
      await inside(
        `UPDATE usage_unassigned SET counted_at = clock_timestamp(), counted_period_id = :period_id
         WHERE unassigned_id = :unassignedId`,
        { unassignedId, period_id: first.period_id },
      );
      const details = { unassigned_id: unassignedId, reason: row.reason, periods: sumTotals(events) };
      const counted = (await findUnassigned(inside, unassignedId)) ?? row;
      const change = changeOf(['counted_at', 'counted_period_id'], row, counted);
      const entry = { ...by, account_id: first.payer_id, application_id: null, details, change };
      await recordAudit(inside, { ...entry, action: 'usage_unassigned_counted' });
      return { row: counted, changed: true };
    });
    if (outcome.changed) onCounted();
    return outcome;
  };
}

/** @throws {Problem} usage_not_readable */
async function timedEvents(query: Query, row: UnassignedRow): Promise<UsageEvent[]> {
  const events = eventsOf(row);
  if (events === null) throw new Problem('usage_not_readable');
  const [kept] = await query<{ kept_from: Date }>('SELECT kept_from FROM usage_hourly_kept');
  const keptFrom = kept?.kept_from ?? new Date(0);
  return events.map((event) => ({ ...event, at_ms: effectiveTime(event, row, keptFrom).getTime() }));
}

/** @throws {Problem} no_billing_period, usage_total_too_large */
async function assignPeriods(
  query: Query,
  events: readonly UsageEvent[],
  named: number | undefined,
): Promise<UsageEvent[]> {
  const own = await findPeriods(query, [...events.map(({ period_id }) => period_id), named ?? 0]);
  const places = await attributeEvents(
    query,
    events.map(({ payer_id, at_ms }) => ({ account_id: payer_id, occurred_at: new Date(at_ms) })),
    await databaseNow(query),
  );
  const covering = await findPeriods(
    query,
    places.flatMap(({ period_id }) => period_id ?? []),
  );
  return events.map((event, index) => {
    const stated = own.get(event.period_id);
    const period =
      named !== undefined
        ? own.get(named)
        : stated?.payer_id === event.payer_id
          ? stated
          : covering.get(places[index]?.period_id ?? 0);
    if (period === undefined) throw new Problem('no_billing_period');
    if (!fitsIn(period, event)) throw new Problem('usage_total_too_large');
    addCounters(period, event);
    return { ...event, period_id: period.period_id, payer_id: period.payer_id };
  });
}

async function addUsage(query: Query, events: readonly UsageEvent[]): Promise<void> {
  await addToTotals(query, sumTotals(events));
  await addToHourly(query, sumHourly(events));
  const payers = new Map(events.map(({ period_id, payer_id }) => [period_id, payer_id]));
  await enqueueRefreshes(
    query,
    [...payers].map(([period_id, payer_id]) => ({ period_id, payer_id, added: null })),
  );
}
