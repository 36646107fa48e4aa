import { bounded } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';
import type { UsageRange } from '../views/series/range.ts';
import type { UsageView } from '../views/store.ts';

export type WantedOperations = {
  account_id: number;
  view: UsageView;
  range: Pick<UsageRange, 'from' | 'to'>;
  application_id: number | undefined;
};

type OperationKey = { hash: string; name: string };

type Calls = { points: number; requests: number; errors: number };

export type UsedOperationRow = OperationKey & Calls & { document: string | null };

const CALLS = (['points', 'requests', 'errors'] as const)
  .map((field) => `CAST(${bounded(`sum(${field})`)} AS bigint) AS ${field}`)
  .join(', ');

function conditions({ view, application_id }: WantedOperations): string {
  return [
    view === 'billed' ? 'payer_id = :account_id' : 'account_id = :account_id',
    'day >= CAST(:first AS date) AND day < CAST(:end AS date)',
    ...(application_id === undefined ? [] : ['application_id = :application_id']),
  ].join(' AND ');
}

function bindings({ account_id, range, application_id }: WantedOperations) {
  const [first, end] = [range.from, range.to].map((at) => at.toISOString().slice(0, '2026-07-01'.length));
  return { account_id, first, end, ...(application_id === undefined ? {} : { application_id }) };
}

/** Those with the most points. */
export function findOperations(
  query: Query,
  wanted: WantedOperations,
  limit: number,
): Promise<UsedOperationRow[]> {
  return query<UsedOperationRow>(
    `SELECT hash, name, points, requests, errors, document
     FROM (
       SELECT hash, name, ${CALLS} FROM usage_operations
       WHERE ${conditions(wanted)} AND hash <> '' GROUP BY hash, name
       ORDER BY points DESC, requests DESC, hash, name LIMIT :limit
     ) AS used LEFT JOIN operation_documents USING (hash)
     ORDER BY points DESC, requests DESC, hash, name`,
    { ...bindings(wanted), limit },
  );
}

/** Of all operations, those that are counted together included. */
export async function countErrors(query: Query, wanted: WantedOperations): Promise<number> {
  const [row] = await query<Calls>(
    `SELECT ${CALLS} FROM usage_operations WHERE ${conditions(wanted)}`,
    bindings(wanted),
  );
  return row?.errors ?? 0;
}

export function findOperationDays(
  query: Query,
  wanted: WantedOperations,
  hashes: readonly string[],
): Promise<(OperationKey & { day: string; points: number })[]> {
  return query(
    `SELECT hash, name, CAST(day AS text) AS day, CAST(${bounded('sum(points)')} AS bigint) AS points
     FROM usage_operations WHERE ${conditions(wanted)} AND hash = ANY (CAST(:hashes AS text[]))
     GROUP BY hash, name, day ORDER BY day`,
    { ...bindings(wanted), hashes },
  );
}

/** How many requests took how long, by bucket. */
export function findDurations(
  query: Query,
  wanted: WantedOperations,
  hashes: readonly string[],
): Promise<(OperationKey & { durations: number[] })[]> {
  return query(
    `SELECT hash, name, array_agg(requests ORDER BY bucket) AS durations
     FROM (
       SELECT hash, name, bucket, CAST(sum(counted) AS float8) AS requests
       FROM usage_operations, unnest(durations) WITH ORDINALITY AS duration (counted, bucket)
       WHERE ${conditions(wanted)} AND hash = ANY (CAST(:hashes AS text[])) GROUP BY hash, name, bucket
     ) AS sums GROUP BY hash, name`,
    { ...bindings(wanted), hashes },
  );
}
