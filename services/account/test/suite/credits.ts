import type { Knex } from 'knex';
import { usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { redisTimeMs } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { singleRow } from '../../src/platform/database/single-row.ts';
import type { AccountUnderTest } from './account-under-test.ts';
import { insertGrant } from './database/credits.ts';
import type { GrantChanges } from './database/credits.ts';
import { insertAccount, insertPeriod } from './database/records.ts';
import { appendBatch, usageEvent } from './usage/usage-streams.ts';

type Stores = Pick<AccountUnderTest, 'database' | 'store'>;

/** Nothing of the account's stream is counted meanwhile: neither usage nor what a transaction changes with it. */
export async function uncounted<T>(
  { database, store }: Stores,
  accountId: number,
  work: (transaction: Knex, at: Date) => Promise<T>,
): Promise<T> {
  const stream = usageStreamKey(usageShard(accountId));
  return database.transaction(async (transaction) => {
    await transaction('usage_stream_positions').insert({ stream, position: '0-0' }).onConflict().ignore();
    await transaction('usage_stream_positions').where({ stream }).forUpdate().first();
    return work(transaction, new Date(await redisTimeMs(store)));
  });
}

/** Who uses and pays. */
export type Payer = { account_id: number; payer_id: number; period_id: number };

/** The plan includes 10 points. */
export async function newPayer({ database }: Pick<Stores, 'database'>): Promise<Payer> {
  const account_id = await insertAccount(database);
  const period_id = await insertPeriod(database, account_id, { description: { points_limit: 10 } });
  return { account_id, payer_id: account_id, period_id };
}

/** Counted soon after. */
export async function use({ store }: Pick<Stores, 'store'>, payer: Payer, points: number): Promise<void> {
  await appendBatch(store, [usageEvent({ ...payer, points })]);
}

export type GrantedNow = { credit_id: number; usable_from: Date };

/** A grant that is usable from the present instant of Redis' clock. */
export async function grantNow(
  stores: Stores,
  accountId: number,
  changes: GrantChanges = {},
): Promise<GrantedNow> {
  return uncounted(stores, accountId, async (transaction, at) => {
    const starts = { effective_at: new Date(Math.floor(at.getTime() / 1_000) * 1_000), usable_from: at };
    return {
      credit_id: await insertGrant(transaction, accountId, { ...changes, ...starts }),
      usable_from: at,
    };
  });
}

/** Returns the instant from which its points can't be used. */
export async function voidNow(stores: Stores, accountId: number, creditId: number): Promise<Date> {
  return uncounted(stores, accountId, async (transaction, at) => {
    await transaction('credit_grants')
      .where({ credit_id: creditId })
      .update({ void_requested_at: at, void_to: 'voided' });
    return at;
  });
}

/** Until usage is settled up to all instants that have passed. */
export async function cutsResolved(
  { database }: Stores,
  accountId: number,
  timeoutMs = 10_000,
): Promise<void> {
  await waitFor(
    async () => {
      const due = database('credit_cuts')
        .where({ account_id: accountId, resolved_at: null })
        .whereRaw('at <= clock_timestamp()');
      return (await due).length === 0;
    },
    { timeoutMs, what: 'cuts to be resolved' },
  );
}

export async function periodClosed(
  { database }: Stores,
  periodId: number,
  timeoutMs = 10_000,
): Promise<void> {
  await waitFor(async () => (await database('period_closings').where({ period_id: periodId })).length === 0, {
    timeoutMs,
    what: 'the period to be closed',
  });
}

/** Its use ends with this second. */
export async function endPeriod({ database }: Stores, periodId: number): Promise<void> {
  await database('billing_periods')
    .where({ period_id: periodId })
    .update({ ended_at: database.raw("date_trunc('second', clock_timestamp())"), grace_sec: 0 });
}

export type Balance = { points_remaining: number; used: number; expired: number; voided: number };

/** Where a grant's points are, by its movements. */
export async function balanceOf({ database }: Stores, creditId: number): Promise<Balance> {
  const { rows } = await database.raw<{ rows: Balance[] }>(
    `SELECT points_remaining, ${['used', 'expired', 'voided']
      .map(
        (ledger) => `CAST(coalesce((
           SELECT sum(CASE WHEN to_ledger = '${ledger}' THEN moved.points ELSE -moved.points END)
           FROM credit_movements AS moved
           WHERE moved.credit_id = credit_grants.credit_id AND '${ledger}' IN (from_ledger, to_ledger)
         ), 0) AS bigint) AS ${ledger}`,
      )
      .join(', ')}
     FROM credit_grants WHERE credit_id = ?`,
    [creditId],
  );
  return singleRow(rows);
}

export type Settled = { settled_points: number; overuse_points: number; closed_points: number | null };

export async function settledOf({ database }: Stores, periodId: number): Promise<Settled> {
  const rows = await database('period_credits')
    .where({ period_id: periodId })
    .select<Settled[]>('settled_points', 'overuse_points', 'closed_points');
  return rows[0] ?? { settled_points: 0, overuse_points: 0, closed_points: null };
}
