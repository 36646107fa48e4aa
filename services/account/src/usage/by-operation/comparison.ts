import { bounded } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';

export type ComparedOperation = {
  api_version: 'v1' | 'v2';
  hash: string;
  name: string | null;
  requests: number;
  points: number;
  estimated_points: number;
  exceeding_requests: number;
  excess_points: number;
  document: string | null;
};

export type ComparisonRange = {
  /** UTC days, the last one included. */
  from: string;
  to: string;
  account_id: number | null;
};

const LISTED = 500;

const SUMS = (
  [
    ['compared_requests', 'requests'],
    ['compared_points', 'points'],
    ['estimated_points', 'estimated_points'],
    ['exceeding_requests', 'exceeding_requests'],
    ['excess_points', 'excess_points'],
  ] as const
)
  .map(([column, name]) => `CAST(${bounded(`sum(${column})`)} AS bigint) AS ${name}`)
  .join(', ');

/** Of all accounts or of one payer, the operations whose estimates are furthest from their prices. */
export function findComparison(query: Query, range: ComparisonRange): Promise<ComparedOperation[]> {
  return query<ComparedOperation>(
    `SELECT api_version, hash, nullif(name, '') AS name, requests, points, estimated_points, exceeding_requests,
            excess_points, document
     FROM (
       SELECT api_version, hash, name, ${SUMS} FROM usage_operations
       WHERE day >= CAST(:from AS date) AND day <= CAST(:to AS date) AND compared_requests > 0
         AND (CAST(:account_id AS bigint) IS NULL OR payer_id = :account_id)
       GROUP BY api_version, hash, name
       ORDER BY abs(sum(compared_points) - sum(estimated_points)) DESC, api_version, hash, name LIMIT :limit
     ) AS compared LEFT JOIN operation_documents USING (hash)
     ORDER BY abs(points - estimated_points) DESC, api_version, hash, name`,
    { ...range, limit: LISTED },
  );
}
