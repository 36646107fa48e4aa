import { DURATION_BUCKETS } from '@tollgate/contracts/durations';
import type { OperationDocument } from '@tollgate/contracts/usage-stream';
import type { Query } from '../../platform/database/query.ts';
import type { OperationRow } from './sum-operations.ts';

/** Of one account and day; the others are counted together. */
export const OPERATIONS_PER_DAY = 100;

const KEY = 'payer_id, account_id, day, application_id, api_version, hash, name';
const FIGURES = 'points, requests, errors, durations';
const COMPARED = [
  'compared_requests',
  'compared_points',
  'estimated_points',
  'exceeding_requests',
  'excess_points',
] as const;

/** Not by a function: Postgres would call it for each row, at 30 µs. */
const ADDED_DURATIONS = Array.from({ length: DURATION_BUCKETS }, (_, index) => {
  const bucket = String(index + 1);
  return `known.durations[${bucket}] + excluded.durations[${bucket}]`;
}).join(', ');

const ADD = `ON CONFLICT (${KEY}) DO UPDATE SET
  points = known.points + excluded.points,
  requests = known.requests + excluded.requests,
  errors = known.errors + excluded.errors,
  durations = ARRAY[${ADDED_DURATIONS}],
  ${COMPARED.map((field) => `${field} = known.${field} + excluded.${field}`).join(', ')}`;

type Day = Pick<OperationRow, 'payer_id' | 'account_id' | 'day'>;

/**
 * Adds rows in the order of their keys. Of a day with more than a hundred operations, those with the fewest points then
 * move to the row of the others.
 */
export async function addToOperations(query: Query, rows: readonly OperationRow[]): Promise<void> {
  const added = await query<Day & { is_new: boolean }>(
    `INSERT INTO usage_operations AS known (${KEY}, ${FIGURES}, ${COMPARED.join(', ')})
     SELECT payer_id, account_id, day, application_id, api_version, hash, name, points, requests, errors,
            CAST(durations AS bigint[]), ${COMPARED.join(', ')}
     FROM unnest(:payer_id::bigint[], :account_id::bigint[], :day::date[], :application_id::bigint[],
                 :api_version::text[], :hash::text[], :name::text[], :points::bigint[], :requests::bigint[],
                 :errors::bigint[], :durations::text[],
                 ${COMPARED.map((field) => `:${field}::bigint[]`).join(', ')})
       AS added (${KEY}, ${FIGURES}, ${COMPARED.join(', ')})
     ORDER BY 1, 2, 3, 4, 5, 6, 7
     ${ADD}
     RETURNING payer_id, account_id, CAST(day AS text) AS day, xmax = 0 AS is_new`,
    {
      ...dayColumns(rows),
      application_id: rows.map(({ application_id }) => application_id),
      api_version: rows.map(({ api_version }) => api_version),
      hash: rows.map(({ hash }) => hash),
      name: rows.map(({ name }) => name),
      points: rows.map(({ points }) => points),
      requests: rows.map(({ requests }) => requests),
      errors: rows.map(({ errors }) => errors),
      durations: rows.map(({ durations }) => `{${durations.join()}}`),
      ...Object.fromEntries(COMPARED.map((field) => [field, rows.map((row) => row[field])])),
    },
    'usage_add_operations',
  );
  // Only a new row can be one too many.
  const grown = added.filter(({ is_new }) => is_new);
  if (grown.length > 0) await mergeSurplus(query, grown);
}

async function mergeSurplus(query: Query, days: readonly Day[]): Promise<void> {
  await query(
    `WITH days AS (
       SELECT DISTINCT payer_id, account_id, day
       FROM unnest(:payer_id::bigint[], :account_id::bigint[], :day::date[]) AS grown (payer_id, account_id, day)
     ), surplus AS (
       SELECT ${KEY} FROM (
         SELECT ${KEY}, row_number() OVER (
           PARTITION BY payer_id, account_id, day ORDER BY points DESC, requests DESC, hash, name) AS place
         FROM days JOIN usage_operations USING (payer_id, account_id, day) WHERE hash <> ''
       ) AS ranked WHERE place > :kept
     ), moved AS (
       DELETE FROM usage_operations AS known USING surplus
       WHERE (${ofTable('known')}) = (${ofTable('surplus')}) RETURNING known.*
     )
     INSERT INTO usage_operations AS known (${KEY}, ${FIGURES})
     SELECT payer_id, account_id, day, application_id, api_version, '', '', sum(points), sum(requests), sum(errors),
            sum_durations(durations)
     FROM moved GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
     ${ADD}`,
    { ...dayColumns(days), kept: OPERATIONS_PER_DAY },
    'usage_merge_operations',
  );
}

/** Keeps documents of which there is usage. */
export async function keepDocuments(query: Query, documents: readonly OperationDocument[]): Promise<void> {
  await query(
    `INSERT INTO operation_documents (hash, document)
     SELECT DISTINCT ON (hash) hash, document
     FROM unnest(:hash::text[], :document::text[]) AS sent (hash, document)
     WHERE EXISTS (SELECT FROM usage_operations WHERE usage_operations.hash = sent.hash)
     ORDER BY hash
     ON CONFLICT (hash) DO NOTHING`,
    { hash: documents.map(({ hash }) => hash), document: documents.map(({ text }) => text) },
  );
}

function ofTable(table: string): string {
  return KEY.split(', ')
    .map((column) => `${table}.${column}`)
    .join(', ');
}

function dayColumns(rows: readonly Day[]) {
  return {
    payer_id: rows.map(({ payer_id }) => payer_id),
    account_id: rows.map(({ account_id }) => account_id),
    day: rows.map(({ day }) => day),
  };
}
