import type { RefusedCall } from '@tollgate/contracts/refused-call';
import type { Query, Transact } from '../platform/database/query.ts';
import type { Page } from '../http/input/page.ts';
import { withOwners } from './owners.ts';

/** Any number that nothing else locks in this database. */
const READER_LOCK = 7_462_026;

/** Some 20 MB of rows. A code that floods has up to 5,800 from each gateway, so others still fit. */
const ROWS_PER_ACCOUNT_AND_DAY = 50_000;
/** Of tokens that were refused: made-up ones must not displace what happened to valid ones. */
const UNPROVEN_ROWS_PER_ACCOUNT_AND_DAY = 5_000;
const ROWS_WITHOUT_ACCOUNT_AND_DAY = 100_000;

/** The days of all refusals without an account are those of account 0; of an account's refused tokens, of `-id`. */
const NO_ACCOUNT = 0;

function dayKeyOf({ account_id, payer_id, code }: RefusedCall): number {
  if (account_id === null) return NO_ACCOUNT;
  return payer_id === null && code === 'unauthorized' ? -account_id : account_id;
}

function maxOf(dayKey: number): number {
  if (dayKey === NO_ACCOUNT) return ROWS_WITHOUT_ACCOUNT_AND_DAY;
  return dayKey < 0 ? UNPROVEN_ROWS_PER_ACCOUNT_AND_DAY : ROWS_PER_ACCOUNT_AND_DAY;
}

/** Stores new records. Resolves with how many exceed their day's limit, or null if another replica is storing. */
export function storeRefusedCalls(transact: Transact, calls: readonly RefusedCall[]): Promise<number | null> {
  return transact(async (query) => {
    const [lock] = await query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock(:lock) AS taken', {
      lock: READER_LOCK,
    });
    if (lock?.taken !== true) return null;
    const known = await withOwners(query, calls);
    const kept = await withinDay(query, known);
    await insert(query, kept);
    return known.length - kept.length;
  });
}

/** A record that comes twice counts twice. */
async function withinDay(query: Query, calls: readonly RefusedCall[]): Promise<RefusedCall[]> {
  const byAccount = Map.groupBy(calls, dayKeyOf);
  const accountIds = [...byAccount.keys()];
  const rows = await query<{ account_id: number; refusals: number }>(
    `INSERT INTO refused_call_days AS days (day, account_id, refusals)
     SELECT CAST(now() AT TIME ZONE 'UTC' AS date), account_id, refusals
     FROM unnest(CAST(:accountIds AS bigint[]), CAST(:counts AS bigint[])) AS come (account_id, refusals)
     ON CONFLICT (account_id, day) DO UPDATE SET refusals = days.refusals + excluded.refusals
     RETURNING account_id, refusals`,
    { accountIds, counts: accountIds.map((accountId) => byAccount.get(accountId)?.length ?? 0) },
  );
  return rows.flatMap(({ account_id, refusals }) => {
    const come = byAccount.get(account_id) ?? [];
    return come.slice(0, Math.max(0, maxOf(account_id) - (refusals - come.length)));
  });
}

const COLUMNS = `request_id, seq, kind, code, status, account_id, payer_id, application_id, client_id, address,
  api_version, duration_ms, detail, unrecorded_before, points, operation_name`;

async function insert(query: Query, calls: readonly RefusedCall[]): Promise<void> {
  await query(
    `INSERT INTO refused_calls (at, ${COLUMNS})
     SELECT to_timestamp(at_ms / 1000.0), ${COLUMNS}
     FROM json_to_recordset(CAST(:calls AS json)) AS call (
       at_ms bigint, request_id text, seq bigint, kind text, code text, status integer, account_id bigint,
       payer_id bigint, application_id bigint, client_id uuid, address text, api_version text, duration_ms bigint,
       detail text, unrecorded_before bigint, points bigint, operation_name text)
     ORDER BY at_ms, seq
     ON CONFLICT (request_id, seq) DO NOTHING`,
    { calls: JSON.stringify(calls) },
  );
}

export type StoredRefusal = Omit<RefusedCall, 'seq' | 'at_ms'> & { refused_call_id: number; at: Date };

/** Operations of one socket share its request id. */
const MAX_OF_ONE_REQUEST = 200;

export function findRefusals(query: Query, requestId: string): Promise<StoredRefusal[]> {
  return query<StoredRefusal>(
    `SELECT refused_call_id, at, ${SHOWN} FROM refused_calls WHERE request_id = :requestId
     ORDER BY refused_call_id LIMIT :limit`,
    { requestId, limit: MAX_OF_ONE_REQUEST },
  );
}

const SHOWN = COLUMNS.replace('seq, ', '');

export type RefusalFilters = {
  code?: string | undefined;
  application_id?: number | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

const CONDITIONS = {
  code: 'code = :code',
  application_id: 'application_id = :application_id',
  from: 'at >= :from',
  to: 'at < :to',
} as const satisfies Record<keyof RefusalFilters, string>;

export function listRefusals(
  query: Query,
  accountId: number,
  filters: RefusalFilters,
  page: Page,
): Promise<StoredRefusal[]> {
  const asked = (Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]).filter((name) => name in filters);
  const conditions = [
    'account_id = :accountId',
    'refused_call_id < :before',
    ...asked.map((name) => CONDITIONS[name]),
  ];
  return query<StoredRefusal>(
    `SELECT refused_call_id, at, ${SHOWN} FROM refused_calls WHERE ${conditions.join(' AND ')}
     ORDER BY refused_call_id DESC LIMIT :limit`,
    { accountId, ...filters, ...page },
  );
}
