import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { operatorAuthorization, operatorCredentials } from '../../../test/suite/operator.ts';
import { insertAccount, insertApplication, secondsFromNow } from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import {
  countedPoints,
  fates,
  insertPayer,
  report,
  reported,
  reporterAuthorization,
  reporterCredentials,
} from '../../../test/suite/usage/usage-reports.ts';

let suite: AccountUnderTest;

const DAY_SEC = 86_400;
const iso = (seconds: number) => secondsFromNow(seconds).toISOString();

beforeAll(async () => {
  suite = await startAccount({
    settings: { OPERATOR_CREDENTIALS: operatorCredentials, USAGE_REPORTER_CREDENTIALS: reporterCredentials },
  });
});

afterAll(async () => {
  await suite.close();
});

beforeEach(async () => {
  await suite.database.raw('TRUNCATE usage_totals, usage_hourly, usage_reports');
});

const payer = (changes?: Parameters<typeof insertPayer>[1]) => insertPayer(suite, changes);
const pointsOf = (period_id: number) => countedPoints(suite, period_id);

describe('refused are, one by one', () => {
  test('events of nobody, of another’s application, of too long ago and of the future', async () => {
    const { account_id } = await payer();
    const { application_id } = await insertApplication(suite.database, await insertAccount(suite.database));
    const answer = await report(suite.account, [
      reported(999_999_999),
      reported(account_id, { application_id }),
      reported(account_id, { occurred_at: iso(-500 * DAY_SEC) }),
      reported(account_id, { occurred_at: '1970-01-01T00:00:00Z' }),
      reported(account_id, { occurred_at: iso(600) }),
      reported(account_id),
    ]);
    expect(fates(answer)).toEqual([
      'unknown_account',
      'unknown_application',
      'occurred_too_long_ago',
      'occurred_too_long_ago',
      'occurred_in_future',
      'counted',
    ]);
    expect(answer.body).toMatchObject({ counted: 1, refused: 5 });
    const partitions = await suite.database('pg_class').whereLike('relname', 'usage\\_hourly\\_1970%');
    expect(partitions).toEqual([]);
  });
});

describe('the whole report is refused', () => {
  test('where members are faulty: all are named, and nothing is counted', async () => {
    const { account_id, period_id } = await payer();
    const answer = await report(suite.account, [
      reported(account_id),
      { ...reported(account_id), idempotency_key: 'a b', points: -1, occurred_at: '2026-07-01', more: 1 },
      { ...reported(account_id), account_id: 0, api_version: 'v3', requests: 1.5, traffic_bytes: 2e12 },
    ]);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.errors?.map(({ field }) => field).toSorted()).toEqual([
      'events.1.idempotency_key',
      'events.1.more',
      'events.1.occurred_at',
      'events.1.points',
      'events.2.account_id',
      'events.2.api_version',
      'events.2.requests',
      'events.2.traffic_bytes',
    ]);
    expect(await pointsOf(period_id)).toBe(0);
  });

  test.each([
    ['no events', { events: [] }, 400],
    ['501 events', { events: Array.from({ length: 501 }, () => reported(1)) }, 400],
    ['no list', { events: {} }, 400],
    ['no JSON', '{', 400],
    ['an unknown member', { events: [reported(1)], more: 1 }, 400],
    ['more than 512 KiB', { events: [reported(1, { idempotency_key: 'x'.repeat(600_000) })] }, 413],
  ])('%s', async (_name, body, status) => {
    const answer = await report(suite.account, body);
    expect([answer.status, answer.body.code]).toEqual([
      status,
      status === 413 ? 'payload_too_large' : 'invalid_request',
    ]);
  });

  test('without a reporter’s credential, which opens nothing else', async () => {
    for (const authorization of [
      '',
      basicAuthorization(serviceCredential),
      operatorAuthorization,
      basicAuthorization({ id: 'suite-v1', secret: randomUUID() }),
    ]) {
      const { status, headers } = await report(suite.account, [reported(1)], authorization);
      expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic /)]);
    }
    for (const path of ['/private/entitlements/1', '/private/accounts', '/private/usage-checks']) {
      const answer = await getPrivate(suite.account, path, { authorization: reporterAuthorization });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    const headers = { authorization: reporterAuthorization };
    expect((await getPrivate(suite.account, '/private/usage-reports', headers)).status).toBe(405);
  });
});
