import { randomBytes, randomUUID } from 'node:crypto';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import type { AccountUnderTest } from '../account-under-test.ts';
import { insertAccount, insertPeriod } from '../database/records.ts';

type Records = Pick<AccountUnderTest, 'database'>;

const reporter = { id: 'suite-v1', secret: randomBytes(24).toString('base64url') };
const otherReporter = { id: 'suite-other', secret: randomBytes(24).toString('base64url') };

export const reporterCredentials = [reporter, otherReporter]
  .map(({ id, secret }) => `${id}:${secret}`)
  .join(' ');

export const reporterAuthorization = basicAuthorization(reporter);
export const otherReporterAuthorization = basicAuthorization(otherReporter);

export type Reported = Record<string, unknown> & { idempotency_key: string };

export function reported(account_id: number, changes: Record<string, unknown> = {}): Reported {
  return {
    idempotency_key: randomUUID(),
    account_id,
    api_version: 'v1',
    occurred_at: new Date().toISOString(),
    points: 3,
    requests: 1,
    time_ms: 20,
    traffic_bytes: 250,
    ...changes,
  };
}

export type ReportAnswer = {
  status: number;
  headers: Headers;
  body: {
    counted: number;
    repeated: number;
    refused: number;
    results: {
      index: number;
      idempotency_key: string;
      status: string;
      code?: string;
      period_id?: number;
    }[];
    code?: string;
    errors?: { field: string; message: string }[];
  };
};

/** Sends events, or anything but a list as the whole body. */
export async function report(
  { privateUrl }: Pick<ServiceProcess, 'privateUrl'>,
  events: readonly Reported[] | object | string,
  authorization = reporterAuthorization,
): Promise<ReportAnswer> {
  const response = await fetch(`${privateUrl}/private/usage-reports`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: typeof events === 'string' ? events : JSON.stringify(Array.isArray(events) ? { events } : events),
  });
  const body = (await response.json()) as ReportAnswer['body'];
  return { status: response.status, headers: response.headers, body };
}

/** Each event's status, or the code of its refusal, in order. */
export function fates({ body }: ReportAnswer): string[] {
  return body.results.map(({ status, code }) => code ?? status);
}

export async function insertPayer(
  { database }: Records,
  changes: Parameters<typeof insertPeriod>[2] = {},
): Promise<{ account_id: number; period_id: number }> {
  const account_id = await insertAccount(database);
  return { account_id, period_id: await insertPeriod(database, account_id, changes) };
}

export async function countedPoints({ database }: Records, period_id: number): Promise<number> {
  const row = await database('usage_totals').where({ period_id }).first<{ points: number } | undefined>();
  return row?.points ?? 0;
}
