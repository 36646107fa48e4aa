import type { Query } from '../../platform/database/query.ts';

/** A use is stored only if it is this much later than the stored one, which bounds the writes of a busy application. */
const PRECISION_SEC = 60;

/**
 * Stores when applications were last used, to the minute, in the order of their ids, so that two writers cannot
 * deadlock. An early time never replaces a later one.
 */
export async function noteApplicationUses(
  query: Query,
  uses: readonly { application_id: number; at_ms: number }[],
): Promise<void> {
  const latest = new Map<number, number>();
  for (const { application_id, at_ms } of uses) {
    latest.set(application_id, Math.max(at_ms, latest.get(application_id) ?? 0));
  }
  latest.delete(0);
  if (latest.size === 0) return;
  await query(
    `INSERT INTO application_uses AS stored (application_id, last_used_at)
     SELECT application_id, used_at
     FROM unnest(CAST(:ids AS bigint[]), CAST(:times AS timestamptz[])) AS uses (application_id, used_at)
       LEFT JOIN application_uses AS before USING (application_id)
     WHERE before.last_used_at IS NULL
       OR used_at >= before.last_used_at + CAST(:precisionSec AS integer) * interval '1 second'
     ORDER BY application_id
     ON CONFLICT (application_id) DO UPDATE SET
       last_used_at = greatest(stored.last_used_at, excluded.last_used_at)`,
    {
      ids: [...latest.keys()],
      times: [...latest.values()].map((atMs) => new Date(atMs).toISOString()),
      precisionSec: PRECISION_SEC,
    },
    'application_uses',
  );
}
