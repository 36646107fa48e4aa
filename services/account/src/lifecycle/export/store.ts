import type { Query } from '../../platform/database/query.ts';

type AccountRecord = {
  account_id: number;
  email: string;
  name: string;
  created_at: Date;
  email_verified_at: Date | null;
  blocked: boolean;
};

export async function findAccountRecord(query: Query, accountId: number): Promise<AccountRecord | undefined> {
  const rows = await query<AccountRecord>(
    `SELECT account_id, email, name, created_at, email_verified_at, blocked_at IS NOT NULL AS blocked
     FROM accounts WHERE account_id = :accountId`,
    { accountId },
  );
  return rows[0];
}

export function listSsoIdentities(
  query: Query,
  accountId: number,
): Promise<{ issuer: string; subject: string; created_at: Date }[]> {
  return query(
    'SELECT issuer, subject, created_at FROM team_sso_identities WHERE account_id = :accountId ORDER BY identity_id',
    { accountId },
  );
}

export type SubscriptionRow = {
  subscription_id: number;
  plan_name: string;
  billing_interval: string;
  team_slots_limit: number | null;
  pending_plan_name: string | null;
  pending_interval: string | null;
  cancel_at_period_end: boolean;
  following_plan_name: string | null;
  renews_at: Date;
  created_at: Date;
  ended_at: Date | null;
};

/** Newest first. */
export function listAllSubscriptions(query: Query, accountId: number): Promise<SubscriptionRow[]> {
  return query<SubscriptionRow>(
    `SELECT subscription_id, plans.name AS plan_name, billing_interval, team_slots_limit,
            pending.name AS pending_plan_name, pending_interval, cancel_at_period_end,
            following.name AS following_plan_name, renews_at, subscriptions.created_at, ended_at
     FROM subscriptions JOIN plans USING (plan_id)
     LEFT JOIN plans AS pending ON pending.plan_id = pending_plan_id
     LEFT JOIN plans AS following ON following.plan_id = following_plan_id
     WHERE account_id = :accountId ORDER BY subscription_id DESC`,
    { accountId },
  );
}

export type UsageHour = {
  hour: Date;
  period_id: number;
  /** Null if the period is unknown. */
  payer_id: number | null;
  account_id: number;
  application_id: number;
  application_name: string | null;
  api_version: string;
  points: number;
  requests: number;
  time_ms: number;
  traffic_bytes: number;
};

/** `billed`: of one of the account's periods. `own`: used by the account, and charged to none of its periods. */
export type UsageOf = { billed: { period_id: number } } | { own: { account_id: number; not: number[] } };

export async function listPeriodIds(query: Query, accountId: number): Promise<number[]> {
  const rows = await query<{ period_id: number }>(
    'SELECT period_id FROM billing_periods WHERE account_id = :accountId ORDER BY started_at',
    { accountId },
  );
  return rows.map(({ period_id }) => period_id);
}

const KEY = 'hour, period_id, account_id, application_id, api_version';

/** Oldest first. `hour` alone excludes partitions, too. */
export function listUsageHours(
  query: Query,
  of: UsageOf,
  after: UsageHour | undefined,
  limit: number,
): Promise<UsageHour[]> {
  const whose =
    'billed' in of
      ? 'period_id = :period_id'
      : 'account_id = :account_id AND period_id <> ALL (CAST(:not AS bigint[]))';
  const later =
    after === undefined
      ? ''
      : `AND hour >= :after_hour AND (${KEY}) > (:after_hour, :after_period_id, :after_account_id,
           :after_application_id, :after_api_version)`;
  const position = Object.entries(after ?? {}).map(([name, value]) => [`after_${name}`, value] as const);
  return query<UsageHour>(
    `SELECT hour, usage.period_id, period.account_id AS payer_id, usage.account_id, usage.application_id,
            application.name AS application_name, api_version, points, requests, time_ms, traffic_bytes
     FROM (SELECT * FROM usage_hourly WHERE ${whose} ${later} ORDER BY ${KEY} LIMIT :limit) AS usage
     LEFT JOIN billing_periods AS period ON period.period_id = usage.period_id
     LEFT JOIN applications AS application ON application.application_id = usage.application_id
     ORDER BY hour, usage.period_id, usage.account_id, usage.application_id, api_version`,
    { ...('billed' in of ? of.billed : of.own), ...Object.fromEntries(position), limit },
  );
}

export type OperationDay = {
  day: string;
  payer_id: number;
  account_id: number;
  application_id: number;
  api_version: string;
  operation_name: string;
  hash: string;
  points: number;
  requests: number;
  errors: number;
  durations: number[];
  document: string | null;
};

const OPERATION_KEY = 'payer_id, account_id, day, application_id, api_version, hash, name';

/** What the account used or pays for, in the order of the table's key. */
export function listOperationDays(
  query: Query,
  accountId: number,
  after: OperationDay | undefined,
  limit: number,
): Promise<OperationDay[]> {
  const later =
    after === undefined
      ? ''
      : `AND (${OPERATION_KEY}) > (:after_payer_id, :after_account_id, CAST(:after_day AS date), :after_application_id,
           :after_api_version, :after_hash, :after_operation_name)`;
  const position = Object.entries(after ?? {}).map(([name, value]) => [`after_${name}`, value] as const);
  return query<OperationDay>(
    `SELECT CAST(day AS text) AS day, payer_id, account_id, application_id, api_version, name AS operation_name, hash,
            points, requests, errors, CAST(durations AS float8[]) AS durations, document
     FROM (
       SELECT * FROM usage_operations WHERE (payer_id = :accountId OR account_id = :accountId) ${later}
       ORDER BY ${OPERATION_KEY} LIMIT :limit
     ) AS used LEFT JOIN operation_documents USING (hash)
     ORDER BY ${OPERATION_KEY}`,
    { accountId, limit, ...Object.fromEntries(position) },
  );
}

export type AlertRow = {
  alert_id: number;
  period_id: number;
  limit_name: string;
  share: number;
  used: number;
  limit_value: number;
  created_at: Date;
};

type BudgetAlertRow = {
  budget_alert_id: number;
  created_at: Date;
  application_id: number | null;
  member_account_id: number | null;
  period_id: number | null;
  day: string | null;
  share: number;
  used: number;
  limit_value: number;
};

/** That this account was told, newest first. */
export function listBudgetAlerts(
  query: Query,
  accountId: number,
  { limit, before }: { limit: number; before: number },
): Promise<BudgetAlertRow[]> {
  return query<BudgetAlertRow>(
    `SELECT budget_alert_id, created_at, application_id, member_id AS member_account_id, period_id,
            CAST(day AS text) AS day, share, used, limit_value
     FROM budget_alerts WHERE account_id = :accountId AND budget_alert_id < :before
     ORDER BY budget_alert_id DESC LIMIT :limit`,
    { accountId, limit, before },
  );
}

/** Newest first. */
export function listAlerts(
  query: Query,
  accountId: number,
  { limit, before }: { limit: number; before: number },
): Promise<AlertRow[]> {
  return query<AlertRow>(
    `SELECT alert_id, period_id, limit_name, share, used, limit_value, usage_alerts.created_at
     FROM billing_periods JOIN usage_alerts USING (period_id)
     WHERE billing_periods.account_id = :accountId AND alert_id < :before ORDER BY alert_id DESC LIMIT :limit`,
    { accountId, limit, before },
  );
}

/** What a team's directory has sent about the person. */
export async function findProvisionedUser(query: Query, accountId: number): Promise<object | undefined> {
  const rows = await query<object>(
    `SELECT user_name, external_id, attributes, created_at, updated_at FROM scim_users
     WHERE account_id = :accountId AND deleted_at IS NULL ORDER BY created_at DESC LIMIT 1`,
    { accountId },
  );
  return rows[0];
}
