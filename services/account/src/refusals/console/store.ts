import type { APPLICATION_TYPES } from '@tollgate/contracts/application-types';
import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';
import type { UsageRange } from '../../usage/views/series/range.ts';

/** Whose calls: of an account, in a view (docs/design/counting.md). */
export type Whose = { account_id: number; view: 'billed' | 'own' };

type Filter = Readonly<Record<string, number | string | Date | undefined>>;

export type ListedRefusal = {
  refusal_id: number;
  at: Date;
  request_id: string;
  kind: 'call' | 'upgrade' | 'operation' | 'socket';
  code: string;
  status: number | null;
  account_id: number;
  account_name: string | null;
  application_id: number | null;
  application_name: string | null;
  application_type: ApplicationType | null;
  operation_name: string | null;
  api_version: string;
  duration_ms: number | null;
  points: number | null;
  detail: string | null;
  unrecorded_before: number;
};

type ApplicationType = (typeof APPLICATION_TYPES)[number];

/** The expression of an index. */
const SEEN_BY = 'coalesce(payer_id, account_id)';

const CONDITIONS = {
  code: 'code = :code',
  application_id: 'application_id = :application_id',
  account_id: 'account_id = :only_account_id',
  request_id: 'request_id = :request_id',
  from: 'at >= :from',
  to: 'at < :to',
} as const;

/** Newest first. Filters that are undefined don't count. */
export function findRefusalPage(
  query: Query,
  { account_id, view }: Whose,
  filter: Filter,
  page: Page,
): Promise<ListedRefusal[]> {
  const conditions = [
    `${view === 'own' ? 'account_id' : SEEN_BY} = :account_id`,
    'refused_call_id < :before',
    ...asked(filter, CONDITIONS),
  ];
  return query<ListedRefusal>(
    `SELECT refused_call_id AS refusal_id, at, request_id, kind, code, calls.status, calls.account_id,
            accounts.name AS account_name, calls.application_id, applications.name AS application_name,
            applications.type AS application_type, operation_name, api_version, duration_ms, points, detail,
            unrecorded_before
     FROM (SELECT * FROM refused_calls WHERE ${conditions.join(' AND ')}
           ORDER BY refused_call_id DESC LIMIT :limit) AS calls
     LEFT JOIN accounts ON accounts.account_id = calls.account_id
     LEFT JOIN applications ON applications.application_id = calls.application_id
     ORDER BY refused_call_id DESC`,
    { ...parameters(filter), ...page, account_id },
  );
}

export type CodeCount = { bucket: Date; code: string; calls: number; last_at: Date };

export type ApplicationCount = {
  application_id: number;
  name: string | null;
  type: ApplicationType | null;
  calls: number;
};

const BUCKETS = { hour: 'hour', day: "date_trunc('day', hour, 'UTC')" } as const;

const MAX_APPLICATIONS = 200;

type CountFilter = Pick<typeof CONDITIONS, 'code' | 'application_id' | 'account_id'>;

/** Exact numbers by bucket and code, oldest first. */
export function findCodeCounts(
  query: Query,
  whose: Whose,
  { interval, ...range }: UsageRange,
  filter: Filter,
): Promise<CodeCount[]> {
  return query<CodeCount>(
    `SELECT ${BUCKETS[interval]} AS bucket, code, CAST(sum(calls) AS bigint) AS calls, max(last_at) AS last_at
     FROM refused_call_counts WHERE ${inRange(whose, filter)} GROUP BY 1, 2 ORDER BY 1, 2`,
    { ...parameters(filter), ...range, account_id: whose.account_id },
  );
}

export function findApplicationCounts(
  query: Query,
  whose: Whose,
  { from, to }: UsageRange,
  filter: Filter,
): Promise<ApplicationCount[]> {
  return query<ApplicationCount>(
    `SELECT application_id, name, type, calls
     FROM (SELECT application_id, CAST(sum(calls) AS bigint) AS calls
           FROM refused_call_counts WHERE ${inRange(whose, filter)} AND application_id > 0
           GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :max) AS counted
     LEFT JOIN applications USING (application_id) ORDER BY calls DESC, application_id`,
    { ...parameters(filter), from, to, account_id: whose.account_id, max: MAX_APPLICATIONS },
  );
}

function inRange({ view }: Whose, filter: Filter): string {
  const { code, application_id, account_id }: CountFilter = CONDITIONS;
  return [
    `${view === 'own' ? 'account_id' : 'payer_id'} = :account_id`,
    'hour >= :from AND hour < :to',
    ...asked(filter, { code, application_id, account_id }),
  ].join(' AND ');
}

function asked(filter: Filter, conditions: Readonly<Record<string, string>>): string[] {
  return Object.entries(conditions).flatMap(([name, condition]) =>
    filter[name] === undefined ? [] : [condition],
  );
}

function parameters({ account_id, ...filter }: Filter): Filter {
  return { ...filter, only_account_id: account_id };
}
