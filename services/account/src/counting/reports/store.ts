import { totalColumns } from '../../billing/periods/usage-sums.ts';
import type { Counters } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';
import type { ReportedEvent } from './input.ts';

/** Who pays for an event, and the totals of that period. */
export type Attribution = {
  account_known: boolean;
  /** True if the event names none. */
  application_known: boolean;
  period_id: number | null;
  payer_id: number | null;
} & Counters;

/**
 * Attributes events to the payer at that time, as far as known (docs/design/counting.md), and to the period or grace
 * window that covers the instant. A future instant counts as now, since a period opened ahead can still be withdrawn.
 * In the order of the events.
 */
export function attributeEvents(
  query: Query,
  events: readonly Pick<ReportedEvent, 'account_id' | 'application_id' | 'occurred_at'>[],
  now: Date,
): Promise<Attribution[]> {
  return query<Attribution>(
    `SELECT caller.account_id IS NOT NULL AS account_known,
            (wanted.application_id IS NULL OR application.application_id IS NOT NULL) AS application_known,
            period.period_id, period.account_id AS payer_id, ${totalColumns('total')}
     FROM unnest(CAST(:account_ids AS bigint[]), CAST(:application_ids AS bigint[]),
                 CAST(:instants AS timestamptz[])) WITH ORDINALITY
       AS wanted (account_id, application_id, instant, place)
     LEFT JOIN accounts AS caller ON caller.account_id = wanted.account_id
     LEFT JOIN applications AS application
       ON application.application_id = wanted.application_id AND application.account_id = wanted.account_id
     LEFT JOIN team_members AS membership
       ON membership.account_id = caller.account_id AND membership.role = 'member'
         AND membership.joined_at <= wanted.instant
     LEFT JOIN team_members AS manager
       ON manager.team_id = membership.team_id AND manager.role = 'manager'
     LEFT JOIN LATERAL (
       SELECT period_id, account_id, ended_at + (1 + grace_sec) * interval '1 second' AS grace_ended_at
       FROM billing_periods
       WHERE account_id = coalesce(manager.account_id, caller.account_id) AND started_at <= wanted.instant
       ORDER BY started_at DESC LIMIT 1
     ) AS period ON wanted.instant < period.grace_ended_at
     LEFT JOIN usage_totals AS total ON total.period_id = period.period_id
     ORDER BY wanted.place`,
    {
      account_ids: events.map(({ account_id }) => account_id),
      application_ids: events.map(({ application_id }) => application_id ?? null),
      instants: events.map(({ occurred_at }) => new Date(Math.min(+occurred_at, +now)).toISOString()),
    },
  );
}

export type StoredKey = {
  idempotency_key: string;
  content_hash: string;
  period_id: number;
  occurred_at: Date;
};

/**
 * Returns the new keys. Inserts them in order, so that two reports of the same keys cannot deadlock, and waits for
 * transactions that insert one of them.
 */
export async function insertKeys(
  query: Query,
  reporter: string,
  keys: readonly StoredKey[],
): Promise<ReadonlySet<string>> {
  const rows = await query<Pick<StoredKey, 'idempotency_key'>>(
    `INSERT INTO usage_reports (reporter, idempotency_key, content_hash, period_id, occurred_at)
     SELECT :reporter, * FROM unnest(CAST(:idempotency_keys AS text[]), CAST(:content_hashes AS text[]),
                                     CAST(:period_ids AS bigint[]), CAST(:instants AS timestamptz[]))
       AS new (idempotency_key, content_hash, period_id, occurred_at)
     ORDER BY new.idempotency_key COLLATE "C"
     ON CONFLICT DO NOTHING RETURNING idempotency_key`,
    {
      reporter,
      idempotency_keys: keys.map(({ idempotency_key }) => idempotency_key),
      content_hashes: keys.map(({ content_hash }) => content_hash),
      period_ids: keys.map(({ period_id }) => period_id),
      instants: keys.map(({ occurred_at }) => occurred_at.toISOString()),
    },
  );
  return new Set(rows.map(({ idempotency_key }) => idempotency_key));
}

type FoundKey = Pick<StoredKey, 'idempotency_key' | 'content_hash' | 'period_id'>;

export async function findKeys(
  query: Query,
  reporter: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, FoundKey>> {
  const rows = await query<FoundKey>(
    `SELECT idempotency_key, content_hash, period_id FROM usage_reports
     WHERE reporter = :reporter AND idempotency_key = ANY (CAST(:keys AS text[]))`,
    { reporter, keys: [...keys] },
  );
  return new Map(rows.map((row) => [row.idempotency_key, row]));
}
