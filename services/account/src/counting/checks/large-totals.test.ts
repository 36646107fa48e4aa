import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_EVENT_COUNTER, MAX_TOTAL } from '@tollgate/contracts/usage-stream';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import {
  countedPoints,
  fates,
  insertPayer,
  report,
  reported,
  reporterCredentials,
} from '../../../test/suite/usage/usage-reports.ts';
import { countPastUsage } from '../../../test/suite/usage/usage-rows.ts';

/** Totals at the greatest number that JSON states exactly, and rows beyond it from before there was a bound. */

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({
    settings: { OPERATOR_CREDENTIALS: operatorCredentials, USAGE_REPORTER_CREDENTIALS: reporterCredentials },
  });
});

afterAll(async () => {
  await suite.close();
});

const operate = (method: string, path: string, body?: object) =>
  operatePath(suite.account, method, path, body);

const totals = (points: number | string) => ({ points, requests: 1, time_ms: 0, traffic_bytes: 0 });

test('the database takes no total beyond 2^53 - 1', async () => {
  const { period_id } = await insertPayer(suite);
  const insert = suite.database('usage_totals').insert({ period_id, ...totals('9007199254740992') });
  await expect(insert).rejects.toThrow(/usage_totals_within/);
});

test('a report that would take a total beyond is refused with a code, and those that fit are counted', async () => {
  const { account_id, period_id } = await insertPayer(suite);
  await suite.database('usage_totals').insert({ period_id, ...totals(MAX_TOTAL - MAX_EVENT_COUNTER - 5) });
  const large = reported(account_id, { points: MAX_EVENT_COUNTER });
  const answer = await report(suite.account, [
    large,
    reported(account_id, { points: MAX_EVENT_COUNTER }),
    reported(account_id, { points: 5 }),
  ]);
  expect([answer.status, fates(answer)]).toEqual([200, ['counted', 'total_too_large', 'counted']]);
  expect(await countedPoints(suite, period_id)).toBe(MAX_TOTAL);
  expect(fates(await report(suite.account, [large]))).toEqual(['repeated']);
});

test('reports that fill up one period at the same time stop at the bound, all of them answered', async () => {
  const { account_id, period_id } = await insertPayer(suite);
  await suite.database('usage_totals').insert({ period_id, ...totals(MAX_TOTAL - 40) });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => report(suite.account, [reported(account_id, { points: 10 })])),
  );
  const each = answers.flatMap(fates);
  expect(each.filter((fate) => fate === 'counted')).toHaveLength(4);
  expect(each.filter((fate) => fate === 'total_too_large')).toHaveLength(4);
  expect(await countedPoints(suite, period_id)).toBe(MAX_TOTAL);
});

test('rows that are beyond it already break no list, no check and no rebuild, and are told of', async () => {
  const [good, bad] = [await insertPayer(suite), await insertPayer(suite)];
  await countPastUsage(suite.database, [{ at: new Date(), ...good, payer_id: good.account_id, points: 5 }]);
  await countPastUsage(suite.database, [{ at: new Date(), ...bad, payer_id: bad.account_id, points: 7 }]);
  await suite.database.raw('ALTER TABLE usage_totals DROP CONSTRAINT usage_totals_within');
  await suite
    .database('usage_totals')
    .where({ period_id: bad.period_id })
    .update({ points: '9223372036854775807' });
  await suite
    .database('usage_hourly')
    .where({ period_id: bad.period_id })
    .update({ traffic_bytes: '9223372036854775807' });
  await suite.database.raw(
    'ALTER TABLE usage_totals ADD CONSTRAINT usage_totals_within CHECK (points <= 9007199254740991) NOT VALID',
  );

  const periods = await operate('GET', '/private/periods?limit=200');
  expect(periods.status).toBe(200);
  const usage = new Map(
    (periods.body['periods'] as { period_id: number; usage: object }[]).map((one) => [
      one.period_id,
      one.usage,
    ]),
  );
  expect(usage.get(good.period_id)).toMatchObject({ points: 5 });
  expect(usage.get(bad.period_id)).toMatchObject({ points: MAX_TOTAL });

  const check = await operate('POST', '/private/usage-checks', {});
  expect(check.body).toMatchObject({ out_of_range: [bad.period_id] });
  const differences = check.body['differences'] as { period_id: number }[];
  expect(differences.map(({ period_id }) => period_id)).toContain(bad.period_id);
  expect(differences.map(({ period_id }) => period_id)).not.toContain(good.period_id);

  const snapshot = await getPrivate(suite.account, `/private/usage-snapshots/${String(bad.period_id)}`);
  expect(await snapshot.json()).toMatchObject({ points: MAX_TOTAL });
  const path = `/private/accounts/${String(bad.account_id)}/usage`;
  expect((await operate('GET', path)).status).toBe(200);

  const rebuilt = await operate('POST', '/private/usage-rebuilds', { period_id: bad.period_id });
  expect([rebuilt.status, rebuilt.body]).toMatchObject([
    200,
    { changed: true, totals: { points: 7, traffic_bytes: MAX_TOTAL } },
  ]);
  expect(await countedPoints(suite, bad.period_id)).toBe(7);
});
