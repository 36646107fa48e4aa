import { durationQuantile } from '@tollgate/contracts/durations';
import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import { sumUsage } from '../../billing/periods/usage-sums.ts';
import { csvLine } from '../../http/csv.ts';
import { isoSeconds } from '../../http/iso-seconds.ts';
import type { Query } from '../../platform/database/query.ts';
import { assertRange, usageRange } from '../views/series/range.ts';
import { findUsageRows } from '../views/store.ts';
import type { UsageView } from '../views/store.ts';
import type { OperationUsageInput } from './input.ts';
import { countErrors, findDurations, findOperationDays, findOperations } from './store.ts';

type Calls = { points_usage: number; requests_usage: number; errors: number };

type UsedOperation = Calls & {
  hash: string;
  name: string | null;
  p50_ms: number | null;
  p95_ms: number | null;
  document: string | null;
  days: { day: string; points_usage: number }[];
};

export type OperationUsage = {
  account_id: number;
  payer_id: number;
  view: UsageView;
  from: string;
  to: string;
  points_usage: number;
  requests_usage: number;
  /** Most points first. */
  operations: UsedOperation[];
  /** What the operations lack of the total. */
  others: Calls;
};

const LISTED = 100;

/**
 * Usage by operation beside the total of the same range, which is counted in the same transactions.
 * @throws {Problem} invalid_request for an impossible range, not_found for an unknown account
 */
export async function operationUsage(
  query: Query,
  accountId: number,
  { from, to, application_id, ...input }: OperationUsageInput,
): Promise<OperationUsage> {
  const now = new Date();
  assertRange({ interval: 'day', from, to }, now);
  const range = usageRange({ interval: 'day', from, to }, now);
  const payerPeriods = await findPayerPeriods(query, accountId, now);
  if (payerPeriods === undefined) throw new Problem('not_found');
  const { payer_id } = payerPeriods;
  const view = input.view ?? (payer_id === accountId ? 'billed' : 'own');
  const wanted = { account_id: accountId, view, range, application_id };
  // What is counted meanwhile belongs to the others.
  const found = await findOperations(query, wanted, LISTED);
  const hashes = [...new Set(found.map(({ hash }) => hash))];
  const errors = await countErrors(query, wanted);
  const durations = await findDurations(query, wanted, hashes);
  const days = Map.groupBy(await findOperationDays(query, wanted, hashes), nameOf);
  const filter = { application_id, account_id: undefined, api_version: undefined };
  const total = sumUsage(
    await findUsageRows(query, { ...wanted, group_by: 'none', filter, limit: MAX_DAYS }),
  );
  const countsOf = new Map(durations.map((row) => [nameOf(row), row.durations]));
  const operations = found.map((row): UsedOperation => {
    const counts = countsOf.get(nameOf(row)) ?? [];
    return {
      hash: row.hash,
      name: row.name === '' ? null : row.name,
      points_usage: row.points,
      requests_usage: row.requests,
      errors: row.errors,
      p50_ms: durationQuantile(counts, 0.5),
      p95_ms: durationQuantile(counts, 0.95),
      document: row.document,
      days: (days.get(nameOf(row)) ?? []).map(({ day, points }) => ({ day, points_usage: points })),
    };
  });
  const { points_usage, requests_usage } = total;
  const lacking = (all: number, field: keyof Calls) =>
    Math.max(
      0,
      operations.reduce((left, operation) => left - operation[field], all),
    );
  return {
    account_id: accountId,
    payer_id,
    view,
    from: isoSeconds(range.from),
    to: isoSeconds(range.to),
    points_usage,
    requests_usage,
    operations,
    others: {
      points_usage: lacking(points_usage, 'points_usage'),
      requests_usage: lacking(requests_usage, 'requests_usage'),
      errors: lacking(errors, 'errors'),
    },
  };
}

/** More than 14 months have. */
const MAX_DAYS = 1_000;

function nameOf({ hash, name }: { hash: string; name: string }): string {
  return `${hash} ${name}`;
}

/** CSV (RFC 4180): a line for each operation, and one without name and hash for the others. */
export function operationUsageCsv({ operations, others }: OperationUsage): string {
  const title = [
    'operation_name',
    'hash',
    'points_usage',
    'requests_usage',
    'errors',
    'p50_ms',
    'p95_ms',
    'document',
  ];
  const lines = operations.map((one) => [
    one.name ?? '(unnamed)',
    one.hash,
    one.points_usage,
    one.requests_usage,
    one.errors,
    one.p50_ms ?? '',
    one.p95_ms ?? '',
    one.document ?? '',
  ]);
  const last = ['(others)', '', others.points_usage, others.requests_usage, others.errors, '', '', ''];
  return [title, ...lines, last].map(csvLine).join('');
}

/** Such as `operations-2026-11-01-to-2026-12-01.csv`. */
export function operationUsageFileName({ from, to }: Pick<OperationUsage, 'from' | 'to'>): string {
  const day = (at: string) => at.slice(0, '2026-11-01'.length);
  return `operations-${day(from)}-to-${day(to)}.csv`;
}
