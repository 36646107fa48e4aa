import type { Knex } from 'knex';
import { addCounters } from '@tollgate/contracts/usage-stream';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { fitsIn } from '../../billing/periods/usage-sums.ts';
import type { Counters } from '../../billing/periods/usage-sums.ts';
import { createQuery, createTransact, isCheckViolation } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import { enqueueRefreshes } from '../refresh/refresh-outbox.ts';
import { monthBefore } from '../retention/months.ts';
import { NO_APPLICATION, sumHourly, sumTotals } from '../counters/aggregate.ts';
import { addToHourly, addToTotals } from '../counters/counters.ts';
import { ensurePartitions } from '../retention/partitions.ts';
import { contentHash } from './input.ts';
import type { ReportedEvent } from './input.ts';
import { attributionRefusal, timeRefusal } from './rules.ts';
import type { RefusalCode } from './rules.ts';
import { findKeys, attributeEvents, insertKeys } from './store.ts';
import type { StoredKey, Attribution } from './store.ts';

export type EventOutcome =
  { status: 'counted' | 'repeated'; period_id: number } | { status: 'refused'; code: RefusalCode };

export type CountReport = (reporter: string, events: readonly ReportedEvent[]) => Promise<EventOutcome[]>;

/**
 * Counts reported events, each once (docs/design/counting.md): keys, totals, hourly rows and the message to Redis are
 * one transaction. Outcomes are in the order of the events.
 * @throws {Problem} (the promise) service_unavailable; the report may have been counted, and can be sent again
 */
export function createCountReport(parts: {
  database: Knex;
  retentionMonths: number;
  /** Called after a commit that has queued a message to Redis. */
  onCounted: () => void;
}): CountReport {
  const { database, retentionMonths, onCounted } = parts;
  const query = createQuery(database);
  const transact = createTransact(database);
  return async (reporter, events) => {
    const now = await databaseNow(query);
    const keptFrom = monthBefore(now, retentionMonths);
    const lateOrEarly = events.map((event) => timeRefusal(event, { now, keptFrom }));
    const instantsMs = events.flatMap(({ occurred_at }, index) =>
      lateOrEarly[index] === null ? [occurred_at.getTime()] : [],
    );
    await ensurePartitions(database, instantsMs);
    const count = () =>
      transact(async (inside) => {
        const places = await attributeEvents(inside, events, now);
        const candidates = events.map((event, index): Candidate => {
          const place = places[index] ?? NOT_ATTRIBUTED;
          return {
            event,
            hash: contentHash(event),
            place,
            refused: lateOrEarly[index] ?? attributionRefusal(place),
          };
        });
        const fitting = refuseTooLarge(candidates);
        const decided = await decide(inside, reporter, fitting);
        await add(inside, fitting, decided);
        return decided;
      });
    // Another writer may have filled the period up since its totals were read.
    const outcomes = await count().catch((error: unknown) => {
      if (isCheckViolation(error)) return count();
      throw error;
    });
    if (outcomes.some(({ status }) => status === 'counted')) onCounted();
    return outcomes;
  };
}

type Candidate = { event: ReportedEvent; hash: string; place: Attribution; refused: RefusalCode | null };

const NOT_ATTRIBUTED: Attribution = {
  account_known: false,
  application_known: false,
  period_id: null,
  payer_id: null,
  points: 0,
  requests: 0,
  time_ms: 0,
  traffic_bytes: 0,
};

/** Refuses events that would exceed the maximum of a total. */
function refuseTooLarge(candidates: readonly Candidate[]): Candidate[] {
  const totals = new Map<number | null, Counters>();
  return candidates.map((candidate) => {
    const { place, event, refused } = candidate;
    if (refused !== null) return candidate;
    const { points, requests, time_ms, traffic_bytes } = place;
    const total = totals.get(place.period_id) ?? { points, requests, time_ms, traffic_bytes };
    if (!fitsIn(total, event)) return { ...candidate, refused: 'total_too_large' };
    addCounters(total, event);
    totals.set(place.period_id, total);
    return candidate;
  });
}

/** Of several events with one key, the first countable one is counted, whichever report comes first. */
async function decide(
  query: Query,
  reporter: string,
  candidates: readonly Candidate[],
): Promise<EventOutcome[]> {
  const firstOfKey = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const { idempotency_key } = candidate.event;
    if (candidate.refused === null && !firstOfKey.has(idempotency_key)) {
      firstOfKey.set(idempotency_key, candidate);
    }
  }
  const fresh = await insertKeys(query, reporter, [...firstOfKey.values()].map(keyOf));
  const others = candidates.map(({ event }) => event.idempotency_key).filter((key) => !fresh.has(key));
  const kept = await findKeys(query, reporter, others);
  return candidates.map((candidate): EventOutcome => {
    const { hash, refused, event } = candidate;
    const first = firstOfKey.get(event.idempotency_key);
    const own = fresh.has(event.idempotency_key) && first !== undefined ? keyOf(first) : undefined;
    const known = own ?? kept.get(event.idempotency_key);
    if (known === undefined) return { status: 'refused', code: refused ?? 'no_billing_period' };
    if (known.content_hash !== hash) return { status: 'refused', code: 'idempotency_conflict' };
    const status = own !== undefined && candidate === first ? 'counted' : 'repeated';
    return { status, period_id: known.period_id };
  });
}

function keyOf({ event: { idempotency_key, occurred_at }, hash, place }: Candidate): StoredKey {
  return { idempotency_key, content_hash: hash, period_id: place.period_id ?? 0, occurred_at };
}

async function add(
  query: Query,
  candidates: readonly Candidate[],
  outcomes: readonly EventOutcome[],
): Promise<void> {
  const events = candidates.flatMap((candidate, index) =>
    outcomes[index]?.status === 'counted' ? [usageEventOf(candidate)] : [],
  );
  if (events.length === 0) return;
  const totals = sumTotals(events);
  await addToTotals(query, totals);
  await addToHourly(query, sumHourly(events));
  const payers = new Map(events.map(({ period_id, payer_id }) => [period_id, payer_id]));
  await enqueueRefreshes(
    query,
    totals.map(({ period_id, ...added }) => ({ period_id, payer_id: payers.get(period_id) ?? 0, added })),
  );
}

function usageEventOf({ event, place }: Candidate): UsageEvent {
  const { account_id, application_id = NO_APPLICATION, api_version, occurred_at } = event;
  const { points, requests, time_ms, traffic_bytes } = event;
  return {
    payer_id: place.payer_id ?? 0,
    period_id: place.period_id ?? 0,
    account_id,
    application_id,
    api_version,
    points,
    requests,
    time_ms,
    traffic_bytes,
    at_ms: occurred_at.getTime(),
  };
}
