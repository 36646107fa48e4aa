import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { checkLedger } from '../billing/credits/check.ts';
import { readLedger } from '../billing/credits/store.ts';
import { replacePlan } from '../billing/periods/period-store.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import { singleRow } from '../platform/database/single-row.ts';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import {
  balanceOf,
  endPeriod,
  grantNow,
  newPayer,
  periodClosed,
  settledOf,
  use,
  voidNow,
} from '../../test/suite/credits.ts';
import type { Payer } from '../../test/suite/credits.ts';
import { allCounted } from '../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  // What is used late would be a correction, which has rules of its own.
  suite = await startAccount({ settings: { CLOSING_DELAY_SEC: '86400' } });
});

afterAll(async () => {
  await suite.close();
});

type Step =
  | { kind: 'use'; points: number }
  | { kind: 'grant'; points: number }
  | { kind: 'void'; which: number }
  | { kind: 'plan'; included: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('use' as const), points: fc.nat({ max: 9 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('grant' as const),
        points: fc.integer({ min: 1, max: 20 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('void' as const), which: fc.nat({ max: 3 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('plan' as const), included: fc.nat({ max: 60 }) }),
    },
  ),
  { minLength: 20, maxLength: 30 },
);

type History = Payer & { credits: number[]; used: number; included: number };

async function newPlan(points_limit: number): Promise<number> {
  const made = { name: randomUUID(), description: { points_limit } };
  const rows = await suite.database('plans').insert(made).returning<{ plan_id: number }[]>('plan_id');
  return singleRow(rows).plan_id;
}

async function carryOut(script: readonly Step[]): Promise<History> {
  const payer = await newPayer(suite);
  const { account_id, period_id } = payer;
  const history: History = { ...payer, credits: [], used: 0, included: 10 };
  const live: number[] = [];
  for (const step of script) {
    if (step.kind === 'use') {
      await use(suite, payer, step.points);
      history.used += step.points;
    } else if (step.kind === 'grant') {
      const { credit_id } = await grantNow(suite, account_id, { points: step.points, expires_at: null });
      history.credits.push(credit_id);
      live.push(credit_id);
    } else if (step.kind === 'void') {
      const [credit_id] = live.splice(step.which, 1);
      if (credit_id !== undefined) await voidNow(suite, account_id, credit_id);
    } else {
      const plan_id = await newPlan(step.included);
      await createTransact(suite.database)((query) => replacePlan(query, period_id, plan_id));
      history.included = step.included;
    }
  }
  return history;
}

test('whatever plans a period had, credits pay what it used above the last one, and the ledger is right', async () => {
  const seed = Date.now() % 2 ** 31;
  const histories = await Promise.all(fc.sample(steps, { numRuns: 12, seed }).map(carryOut));
  for (const { period_id } of histories) await endPeriod(suite, period_id);
  await allCounted(suite);
  await suite.account.stop();
  await suite.account.restart({ CLOSING_DELAY_SEC: '0' });
  for (const { account_id, period_id, credits, used, included } of histories) {
    await periodClosed(suite, period_id, 30_000);
    const { settled_points, overuse_points } = await settledOf(suite, period_id);
    const balances = await Promise.all(credits.map((id) => balanceOf(suite, id)));
    const taken = balances.reduce((sum, balance) => sum + balance.used, 0);
    const demand = Math.max(0, used - included);
    const ledger = await readLedger(createQuery(suite.database), account_id);
    expect({ seed, settled_points, paid: taken + overuse_points, difference: checkLedger(ledger) }).toEqual({
      seed,
      settled_points: demand,
      paid: demand,
      difference: null,
    });
  }
});
