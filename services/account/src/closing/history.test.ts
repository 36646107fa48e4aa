import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady } from '@tollgate/testbed/service-process';
import { inOrderOfUse } from '../billing/credits/allocation.ts';
import type { OrderedGrant } from '../billing/credits/allocation.ts';
import { checkLedger } from '../billing/credits/check.ts';
import type { AccountLedger } from '../billing/credits/check.ts';
import type { Movement } from '../billing/credits/movement.ts';
import { readLedger } from '../billing/credits/store.ts';
import { createQuery } from '../platform/database/query.ts';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import {
  balanceOf,
  cutsResolved,
  endPeriod,
  periodClosed,
  settledOf,
  uncounted,
  voidNow,
} from '../../test/suite/credits.ts';
import { insertGrant } from '../../test/suite/database/credits.ts';
import {
  hasLastedASecond,
  insertAccount,
  insertPeriod,
  secondsFromNow,
} from '../../test/suite/database/records.ts';
import { allCounted, appendBatch, usageEvent } from '../../test/suite/usage/usage-streams.ts';
import { streamIdMs } from '../counting/stream/stream-id.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  // No period is closed before all is used: what comes later is a correction, which has rules of its own.
  suite = await startAccount({ settings: { CLOSING_DELAY_SEC: '86400' } });
});

afterAll(async () => {
  await suite.close();
});

type Step =
  | { kind: 'use'; points: number; before: boolean }
  | { kind: 'grant'; points: number; priority: number; afterSec: number; livesSec: number | null }
  | { kind: 'void'; which: number }
  | { kind: 'renew' };

const use = fc.record({
  kind: fc.constant('use' as const),
  points: fc.nat({ max: 9 }),
  before: fc.boolean(),
});
const grant = fc.record({
  kind: fc.constant('grant' as const),
  points: fc.integer({ min: 1, max: 20 }),
  priority: fc.constantFrom(0, 50),
  afterSec: fc.nat({ max: 2 }),
  livesSec: fc.constantFrom(null, 1, 2, 60),
});
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: use },
    { weight: 3, arbitrary: grant },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('void' as const), which: fc.nat({ max: 5 }) }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'renew' as const }) },
  ),
  { minLength: 30, maxLength: 40 },
);

type Use = { ms: number; period_id: number; points: number };

const INCLUDED = 5;

type History = { account_id: number; periods: number[]; credits: number[]; uses: Use[] };

function newPeriod(account_id: number, started_at: Date): Promise<number> {
  const times = { started_at, ended_at: new Date(started_at.getTime() + 86_400_000) };
  return insertPeriod(suite.database, account_id, { ...times, description: { points_limit: INCLUDED } });
}

/** The next one begins in the second after its end. */
async function endBegun(period_id: number): Promise<void> {
  await hasLastedASecond(suite.database, period_id);
  await endPeriod(suite, period_id);
}

async function carryOut(script: readonly Step[]): Promise<History> {
  const account_id = await insertAccount(suite.database);
  const history: History = { account_id, periods: [], credits: [], uses: [] };
  const { periods, credits, uses } = history;
  periods.push(await newPeriod(account_id, secondsFromNow(-1_000)));
  for (const step of script) {
    if (step.kind === 'use') {
      const period_id = (step.before ? periods.at(-2) : undefined) ?? periods.at(-1) ?? 0;
      const event = usageEvent({ account_id, payer_id: account_id, period_id, points: step.points });
      const id = await appendBatch(suite.store, [event]);
      uses.push({ ms: streamIdMs(id ?? ''), period_id, points: step.points });
    } else if (step.kind === 'void') {
      const credit_id = credits[step.which];
      const live = suite
        .database('credit_grants')
        .where({ credit_id: credit_id ?? 0, void_requested_at: null });
      if (credit_id !== undefined && (await live).length > 0) await voidNow(suite, account_id, credit_id);
    } else if (step.kind === 'renew') {
      const last = periods.at(-1) ?? 0;
      if (periods.length > 2) continue;
      await endBegun(last);
      const rows = await suite
        .database('billing_periods')
        .where({ period_id: last })
        .pluck<Date[]>('ended_at');
      periods.push(await newPeriod(account_id, new Date((rows[0]?.getTime() ?? 0) + 1_000)));
    } else {
      const { points, priority, afterSec, livesSec } = step;
      const credit_id = await uncounted(suite, account_id, (transaction, at) => {
        const inSeconds = (sec: number) => new Date((Math.floor(at.getTime() / 1_000) + sec) * 1_000);
        const starts = inSeconds(afterSec === 0 ? 0 : afterSec + 1);
        return insertGrant(transaction, account_id, {
          points,
          priority,
          effective_at: starts,
          usable_from: afterSec === 0 ? at : starts,
          expires_at: livesSec === null ? null : inSeconds(afterSec + 1 + livesSec),
        });
      });
      credits.push(credit_id);
    }
  }
  return history;
}

type Stored = OrderedGrant & { points: number; usable_from: Date; void_requested_at: Date | null };

/** Each point is taken when it is used, from the first grant that is usable and has one. */
async function expected({ account_id, periods, uses }: History) {
  const stored = await suite.database('credit_grants').where({ account_id }).select<Stored[]>();
  const grants = inOrderOfUse(stored).map((one) => ({
    ...one,
    left: one.points,
    untilMs: Math.min(one.expires_at?.getTime() ?? Infinity, one.void_requested_at?.getTime() ?? Infinity),
  }));
  const room = new Map(periods.map((period_id) => [period_id, INCLUDED]));
  let overuse = 0;
  for (const { ms, period_id, points } of uses) {
    for (let point = 0; point < points; point += 1) {
      const included = room.get(period_id) ?? 0;
      const usable = grants.find(
        ({ left, usable_from, untilMs }) => left > 0 && usable_from.getTime() <= ms && ms < untilMs,
      );
      if (included > 0) room.set(period_id, included - 1);
      else if (usable === undefined) overuse += 1;
      else usable.left -= 1;
    }
  }
  const used = grants.map(({ credit_id, points, left }) => [credit_id, points - left] as const);
  return { used: new Map(used), overuse };
}

/** As if a point that a movement took had been left with the grant and called overuse, which the sums don't show. */
function forgetPoint(ledger: AccountLedger, movement: Movement): AccountLedger | null {
  const { movement_id, period_id, credit_id, to_ledger, points } = movement;
  if (to_ledger !== 'used' || points < 2) return null;
  return {
    ...ledger,
    movements: ledger.movements.map((one) =>
      one.movement_id === movement_id ? { ...one, points: points - 1 } : one,
    ),
    credits: ledger.credits.map((one) =>
      one.credit_id === credit_id ? { ...one, points_remaining: one.points_remaining + 1 } : one,
    ),
    periods: ledger.periods.map((one) =>
      one.period_id === period_id ? { ...one, overuse_points: one.overuse_points + 1 } : one,
    ),
  };
}

test('grants pay for what was used while they could be, whatever is counted when, and though account is killed', async () => {
  const seed = Date.now() % 2 ** 31;
  const scripts = fc.sample(steps, { numRuns: 16, seed });
  const running = Promise.all(scripts.map(carryOut));
  for (let kill = 0; kill < 3; kill += 1) {
    const resolved = async () => (await suite.database('credit_cuts').whereNotNull('resolved_at')).length;
    const before = await resolved();
    await waitFor(async () => (await resolved()) > before, { intervalMs: 1, what: 'a cut to be resolved' });
    await suite.account.kill();
    await suite.account.restart();
    await becomeReady(suite.account);
  }
  const histories = await running;
  for (const { periods } of histories) await endBegun(periods.at(-1) ?? 0);
  await allCounted(suite);
  await suite.account.stop();
  await suite.account.restart({ CLOSING_DELAY_SEC: '0' });
  for (const history of histories) {
    for (const period_id of history.periods) await periodClosed(suite, period_id, 30_000);
    await cutsResolved(suite, history.account_id, 30_000);
    const { used, overuse } = await expected(history);
    let found = 0;
    for (const period_id of history.periods) found += (await settledOf(suite, period_id)).overuse_points;
    const balances = await Promise.all(
      history.credits.map(async (id) => [id, (await balanceOf(suite, id)).used] as const),
    );
    expect({ seed, used: new Map(balances), overuse: found }).toEqual({ seed, used, overuse });
    const ledger = await readLedger(createQuery(suite.database), history.account_id);
    expect({ seed, difference: checkLedger(ledger) }).toEqual({ seed, difference: null });
    const forgotten = ledger.movements.map((movement) => forgetPoint(ledger, movement));
    expect({ seed, unseen: forgotten.filter((one) => one !== null && checkLedger(one) === null) }).toEqual({
      seed,
      unseen: [],
    });
  }
});
