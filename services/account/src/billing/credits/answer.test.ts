import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import { usageSnapshotSchema } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { cutsResolved, grantNow, newPayer, uncounted, use, voidNow } from '../../../test/suite/credits.ts';
import type { Payer } from '../../../test/suite/credits.ts';
import { insertGrant } from '../../../test/suite/database/credits.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { allCounted } from '../../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { CLOSING_DELAY_SEC: '3600' } });
});

afterAll(async () => {
  await suite.close();
});

async function entitlementOf({ account_id }: Payer): Promise<Entitlement> {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(account_id)}`);
  return entitlementSchema.parse(await response.json());
}

async function creditsOf(payer: Payer) {
  return (await entitlementOf(payer)).billing_period?.credits;
}

async function shownLimit(payer: Payer): Promise<number | null | undefined> {
  return (await entitlementOf(payer)).billing_period?.limits.points_limit;
}

async function useCounted(payer: Payer, points: number): Promise<void> {
  await use(suite, payer, points);
  await allCounted(suite);
}

describe('an entitlement', () => {
  test('without grants has no credits, and the plan’s points', async () => {
    const payer = await newPayer(suite);
    expect(await creditsOf(payer)).toBeUndefined();
    expect(await shownLimit(payer)).toBe(10);
  });

  test('has grants in order of use, and states an instant only until usage before it is settled', async () => {
    const payer = await newPayer(suite);
    const expires_at = secondsFromNow(3_600);
    const begins = secondsFromNow(600);
    await uncounted(suite, payer.account_id, async (transaction) => {
      await insertGrant(transaction, payer.account_id, { points: 50 });
      await insertGrant(transaction, payer.account_id, { points: 20, effective_at: begins, expires_at });
    });
    await cutsResolved(suite, payer.account_id);
    expect(await creditsOf(payer)).toEqual({
      included: 10,
      settled: 0,
      open_periods: [],
      grants: [
        { points: 20, from_ms: begins.getTime(), until_ms: expires_at.getTime() },
        { points: 50, from_ms: null, until_ms: null },
      ],
    });
    const entitlement = await entitlementOf(payer);
    expect(entitlement.billing_period?.limits.points_limit).toBe(60);
    expect(entitlement.valid_until).toBe(begins.toISOString());
  });

  test('does not say where to buy points without payments', async () => {
    expect((await entitlementOf(await newPayer(suite))).billing_period).not.toHaveProperty('buy_url');
  });

  test('of an unlimited plan has no credits', async () => {
    const account_id = await insertAccount(suite.database);
    const period_id = await insertPeriod(suite.database, account_id, { description: {} });
    await grantNow(suite, account_id);
    const payer = { account_id, payer_id: account_id, period_id };
    expect(await creditsOf(payer)).toBeUndefined();
    expect(await shownLimit(payer)).toBeNull();
  });

  test('states a grant that begins beyond the use of the period only then', async () => {
    const payer = await newPayer(suite);
    await grantNow(suite, payer.account_id, { points: 5 });
    await uncounted(suite, payer.account_id, (transaction) =>
      insertGrant(transaction, payer.account_id, { effective_at: secondsFromNow(20 * 86_400) }),
    );
    expect((await creditsOf(payer))?.grants).toHaveLength(1);
  });

  test('of a period after others reserves what those used', async () => {
    const account_id = await insertAccount(suite.database);
    const periods: Payer[] = [];
    for (let age = 6; age >= 1; age -= 1) {
      const times = { started_at: secondsFromNow(-age * 100), ended_at: secondsFromNow(-age * 100 + 99) };
      const last = age === 1 ? { ...times, ended_at: secondsFromNow(10_000) } : times;
      const period_id = await insertPeriod(suite.database, account_id, {
        ...last,
        description: { points_limit: 10 },
      });
      periods.push({ account_id, payer_id: account_id, period_id });
    }
    await grantNow(suite, account_id, { points: 100 });
    await cutsResolved(suite, account_id);
    for (const [index, payer] of periods.entries()) await useCounted(payer, 10 + 2 ** index);
    const current = periods.at(-1);
    if (current === undefined) throw new Error('a period is missing');
    const open = periods.slice(1, 5).toReversed();
    expect(await creditsOf(current)).toEqual({
      included: 10,
      settled: 0,
      open_periods: open.map(({ period_id }) => ({ period_id, included: 10, settled: 0 })),
      // Less what the first period used.
      grants: [{ points: 99, from_ms: null, until_ms: null }],
    });
    expect(await shownLimit(current)).toBe(10 + 100 - 1 - 2 - 4 - 8 - 16);
  });
});

describe('the limit that is shown', () => {
  test('stays while usage moves to grants, and falls by what expires or is voided unused', async () => {
    const payer = await newPayer(suite);
    const { credit_id } = await grantNow(suite, payer.account_id, { points: 30 });
    await cutsResolved(suite, payer.account_id);
    expect(await shownLimit(payer)).toBe(40);
    await useCounted(payer, 25);
    expect(await shownLimit(payer)).toBe(40);
    await voidNow(suite, payer.account_id, credit_id);
    await cutsResolved(suite, payer.account_id);
    expect(await shownLimit(payer)).toBe(25);
  });

  test('contains overuse that is forgiven', async () => {
    const payer = await newPayer(suite);
    await useCounted(payer, 14);
    await grantNow(suite, payer.account_id, { points: 30 });
    await cutsResolved(suite, payer.account_id);
    expect(await shownLimit(payer)).toBe(44);
    expect(await creditsOf(payer)).toMatchObject({ included: 10, settled: 4 });
  });
});

test('a usage snapshot has the points at the instants that its position has passed', async () => {
  const payer = await newPayer(suite);
  const cutsOf = async () => {
    const response = await getPrivate(suite.account, `/private/usage-snapshots/${String(payer.period_id)}`);
    return usageSnapshotSchema.parse(await response.json()).cuts;
  };
  expect(await cutsOf()).toBeUndefined();
  await useCounted(payer, 12);
  const { usable_from } = await grantNow(suite, payer.account_id, { expires_at: secondsFromNow(3_600) });
  await useCounted(payer, 3);
  expect(await cutsOf()).toEqual([{ at_ms: usable_from.getTime(), points: 12 }]);
  await cutsResolved(suite, payer.account_id);
  expect(await cutsOf()).toEqual([{ at_ms: usable_from.getTime(), points: 12 }]);
});

test('a void is taken from the answer that Redis keeps', async () => {
  const payer = await newPayer(suite);
  const { credit_id } = await grantNow(suite, payer.account_id, { points: 30 });
  await cutsResolved(suite, payer.account_id);
  expect((await creditsOf(payer))?.grants).toHaveLength(1);
  await voidNow(suite, payer.account_id, credit_id);
  await waitFor(async () => (await creditsOf(payer)) === undefined);
});
