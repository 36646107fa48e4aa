import type { RefusalCount, RefusalCountBatch } from '@tollgate/contracts/refused-call';
import type { Query, Transact } from '../platform/database/query.ts';
import { withOwners } from './owners.ts';

/** Any number that nothing else locks in this database. */
const COUNT_LOCK = 7_462_033;

/**
 * Adds batches to the exact numbers of refused calls, each batch once. Resolves false if another replica is storing.
 * A gateway sends a batch only when the one before is acknowledged, so a lower number is a repeat.
 */
export function storeRefusalCounts(
  transact: Transact,
  batches: readonly RefusalCountBatch[],
): Promise<boolean> {
  return transact(async (query) => {
    const [lock] = await query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock(:lock) AS taken', {
      lock: COUNT_LOCK,
    });
    if (lock?.taken !== true) return false;
    const fresh = await withoutRepeats(query, batches);
    const counts = await withOwners(
      query,
      fresh.flatMap((batch) => batch.counts),
    );
    await add(query, counts);
    return true;
  });
}

async function withoutRepeats(
  query: Query,
  batches: readonly RefusalCountBatch[],
): Promise<RefusalCountBatch[]> {
  const gatewayIds = [...new Set(batches.map(({ gateway_id }) => gateway_id))];
  const rows = await query<{ gateway_id: string; last_seq: number }>(
    'SELECT gateway_id, last_seq FROM refused_call_gateways WHERE gateway_id = ANY (CAST(:gatewayIds AS uuid[]))',
    { gatewayIds },
  );
  const lastSeqs = new Map(rows.map(({ gateway_id, last_seq }) => [gateway_id, last_seq]));
  const fresh = batches.filter(({ gateway_id, seq }) => {
    if (seq <= (lastSeqs.get(gateway_id) ?? 0)) return false;
    lastSeqs.set(gateway_id, seq);
    return true;
  });
  await query(
    `INSERT INTO refused_call_gateways (gateway_id, last_seq)
     SELECT gateway_id, last_seq FROM unnest(CAST(:gatewayIds AS uuid[]), CAST(:seqs AS bigint[])) AS come (gateway_id, last_seq)
     ON CONFLICT (gateway_id) DO UPDATE SET last_seq = excluded.last_seq, seen_at = now()`,
    { gatewayIds, seqs: gatewayIds.map((gatewayId) => lastSeqs.get(gatewayId) ?? 0) },
  );
  return fresh;
}

/** A refused token whose application is unknown belongs to no account. */
async function add(query: Query, counts: readonly RefusalCount[]): Promise<void> {
  await query(
    `INSERT INTO refused_call_counts AS known (hour, account_id, payer_id, application_id, code, calls, last_at)
     SELECT to_timestamp(hour_ms / 1000.0), account_id, coalesce(payer_id, account_id), coalesce(application_id, 0),
            code, sum(calls), to_timestamp(max(last_at_ms) / 1000.0)
     FROM json_to_recordset(CAST(:counts AS json)) AS come (
       hour_ms bigint, account_id bigint, payer_id bigint, application_id bigint, code text, calls bigint,
       last_at_ms bigint)
     WHERE account_id IS NOT NULL
     GROUP BY 1, 2, 3, 4, 5
     ON CONFLICT (account_id, hour, payer_id, application_id, code) DO UPDATE
     SET calls = known.calls + excluded.calls, last_at = greatest(known.last_at, excluded.last_at)`,
    { counts: JSON.stringify(counts) },
  );
}
