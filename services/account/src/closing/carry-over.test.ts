import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import { done } from '../../test/suite/billing.ts';
import { balanceOf, endPeriod, periodClosed, settledOf, use } from '../../test/suite/credits.ts';
import type { Payer } from '../../test/suite/credits.ts';
import { insertGrant } from '../../test/suite/database/credits.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../test/suite/database/records.ts';
import { operatorCredentials } from '../../test/suite/operator.ts';
import { carriedPoints } from './carry-over.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({
    settings: { CLOSING_DELAY_SEC: '0', OPERATOR_CREDENTIALS: operatorCredentials },
  });
});

afterAll(() => suite.close());

type Carried = { credit_id: number; points: number; points_remaining: number; expires_at: Date };

const carriedBy = (period_id: number) =>
  suite
    .database('credit_grants')
    .where({ reporter: 'closing' })
    .whereLike('idempotency_key', `carry-over:${String(period_id)}%`)
    .orderBy('credit_id')
    .select<Carried[]>('*');

/** Of a plan that includes 10 points and carries at most 5 over. */
const PLAN = { description: { points_limit: 10, rollover_points_max: 5 } };

async function newPayer(description: Record<string, unknown> = PLAN.description): Promise<Payer> {
  const account_id = await insertAccount(suite.database);
  const times = { started_at: secondsFromNow(-100), ended_at: secondsFromNow(3_600) };
  const period_id = await insertPeriod(suite.database, account_id, { ...times, description });
  return { account_id, payer_id: account_id, period_id };
}

/** The period ends now, and another one of the plan begins. */
async function renewed({ account_id, period_id }: Payer): Promise<Payer & { ended_at: Date }> {
  await suite
    .database('billing_periods')
    .where({ period_id })
    .update({ ended_at: secondsFromNow(-10) });
  const times = { started_at: secondsFromNow(-5), ended_at: secondsFromNow(7_200) };
  const next = await insertPeriod(suite.database, account_id, { ...PLAN, ...times });
  return { account_id, payer_id: account_id, period_id: next, ended_at: times.ended_at };
}

const nothingQueued = ({ period_id }: Payer) =>
  waitFor(async () => (await suite.database('credit_carry_overs').where({ period_id })).length === 0);

async function corrected(payer: Payer, points: number): Promise<void> {
  await suite.database('usage_totals').where({ period_id: payer.period_id }).update({ points });
  await waitFor(async () => (await settledOf(suite, payer.period_id)).closed_points === points);
  await nothingQueued(payer);
}

test('unused included points go over to the next period, as far as the plan says, and are corrected', async () => {
  const payer = await newPayer();
  await use(suite, payer, 3);
  const next = await renewed(payer);
  await periodClosed(suite, payer.period_id);
  await waitFor(async () => (await carriedBy(payer.period_id)).length === 1);
  const [granted] = await carriedBy(payer.period_id);
  expect(granted).toMatchObject({
    account_id: payer.account_id,
    points: 5,
    points_remaining: 5,
    source: 'carry_over',
    priority: 10,
    idempotency_key: `carry-over:${String(payer.period_id)}`,
    expires_at: new Date(next.ended_at.getTime() + 1_000),
  });
  await corrected(payer, 8);
  expect(await balanceOf(suite, granted?.credit_id ?? 0)).toMatchObject({ points_remaining: 2, voided: 3 });
  await corrected(payer, 4);
  expect((await carriedBy(payer.period_id)).map(({ points_remaining }) => points_remaining)).toEqual([2, 3]);
  const check = await done(suite.account, 'POST', '/private/credit-checks', { account_id: payer.account_id });
  expect(check).toMatchObject({ checked: 1, differences: [] });
});

test('what an account cannot hold is not carried over, which the audit log says once', async () => {
  const payer = await newPayer();
  await use(suite, payer, 1);
  await insertGrant(suite.database, payer.account_id, { points: Number.MAX_SAFE_INTEGER - 12 });
  await renewed(payer);
  await periodClosed(suite, payer.period_id);
  await nothingQueued(payer);
  expect(await carriedBy(payer.period_id)).toEqual([]);
  const { account_id } = payer;
  expect(
    await suite.database('audit_log').where({ account_id, action: 'credits_not_granted' }),
  ).toMatchObject([{ details: { points: 5, source: 'carry_over' } }]);
});

test('what came over is not carried a second time', async () => {
  const payer = await newPayer();
  await use(suite, payer, 1);
  const second = await renewed(payer);
  await waitFor(async () => (await carriedBy(payer.period_id)).length === 1);
  await suite
    .database('billing_periods')
    .where({ period_id: second.period_id })
    .update({ ended_at: secondsFromNow(-3) });
  await use(suite, second, 7);
  const times = { started_at: secondsFromNow(-2), ended_at: secondsFromNow(7_200) };
  await insertPeriod(suite.database, payer.account_id, { ...PLAN, ...times });
  await waitFor(async () => (await carriedBy(second.period_id)).length === 1);
  expect(await carriedBy(second.period_id)).toMatchObject([{ points: 3 }]);
});

test('nothing goes over without a next period, nor from a plan that does not say so', async () => {
  const last = await newPayer();
  await endPeriod(suite, last.period_id);
  await periodClosed(suite, last.period_id);
  await nothingQueued(last);
  const other = await newPayer({ points_limit: 10 });
  await renewed(other);
  await periodClosed(suite, other.period_id);
  await nothingQueued(other);
  expect([await carriedBy(last.period_id), await carriedBy(other.period_id)]).toEqual([[], []]);
});

test('never more goes over than was included and unused, nor than the plan allows', () => {
  const count = fc.nat({ max: 1_000 });
  fc.assert(
    fc.property(fc.option(count), count, count, (included, points, rollover_max) => {
      const carried = carriedPoints({ included, points, rollover_max, expires_at: new Date() });
      const unused = included === null ? 0 : Math.max(0, included - points);
      expect([carried <= unused, carried <= rollover_max, carried >= 0]).toEqual([true, true, true]);
      expect(carried === unused || carried === rollover_max).toBe(true);
    }),
  );
});
