import type { HealthReport } from '@tollgate/contracts/health-report';
import { stepsOf } from '../../closing/worker.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';

type ClosingReport = NonNullable<NonNullable<HealthReport['postgres']>['closing']>;

/** `delaySec`: CLOSING_DELAY_SEC. */
export async function reportClosing(query: Query, delaySec: number): Promise<ClosingReport> {
  const due = stepsOf(delaySec).map((step) => `SELECT at FROM (${step.due}) AS due`);
  const rows = await query<{ stopped_at: Date | null; oldest_due_sec: number; differing_accounts: number[] }>(
    `SELECT (SELECT min(found_at) FROM usage_restores) AS stopped_at,
       CAST((SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(at))), 0)
             FROM (${due.join(' UNION ALL ')}) AS due) AS float8) AS oldest_due_sec,
       (SELECT coalesce(json_agg(account_id), '[]') FROM (
          SELECT account_id FROM credit_differences ORDER BY account_id LIMIT 100) AS listed) AS differing_accounts`,
  );
  const { stopped_at, ...report } = singleRow(rows);
  return { ...report, stopped_at: stopped_at?.toISOString() ?? null };
}
