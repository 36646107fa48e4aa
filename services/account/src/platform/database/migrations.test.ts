import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { emptyDatabase } from '../../../test/suite/database/empty-database.ts';
import { FUTURE_MIGRATION } from '../../../test/suite/database/future-migration.ts';
import { runProgram } from '../../../test/suite/programs.ts';
import {
  insertAccount,
  insertApplication,
  insertPeriod,
  insertTeam,
} from '../../../test/suite/database/records.ts';
import { MIGRATIONS } from './migration-list.ts';

let home: Database;
let database: Knex;

beforeAll(async () => {
  home = await createDatabase();
  database = openSuiteDatabase(home.url);
});

afterAll(async () => {
  await database.destroy();
  await home.drop();
});

async function schemaOf(url: string): Promise<{ tables: string[]; migrated: string[] }> {
  const own = openSuiteDatabase(url);
  try {
    return {
      tables: await own('pg_tables')
        .where({ schemaname: 'public' })
        .orderBy('tablename')
        .pluck<string[]>('tablename'),
      migrated: (await own.schema.hasTable('knex_migrations'))
        ? await own('knex_migrations').orderBy('id').pluck<string[]>('name')
        : [],
    };
  } finally {
    await own.destroy();
  }
}

describe('migrate', () => {
  test('makes an empty database whole, three at once, and a later one finds nothing to do', async () => {
    const empty = await emptyDatabase(database, home.url);
    const settings = { DATABASE_URL: empty.url };
    const outcomes = await Promise.all([1, 2, 3].map(() => runProgram('programs/migrate', settings)));
    expect(outcomes.map(({ code, stderr }) => [code, stderr])).toEqual([1, 2, 3].map(() => [0, '']));
    expect((await schemaOf(empty.url)).migrated).toEqual(MIGRATIONS.map(({ name }) => name));
    expect(await schemaOf(empty.url)).toEqual(await schemaOf(home.url));
    expect((await runProgram('programs/migrate', settings)).stdout).toContain('nothing to migrate');
    await empty.drop();
  });

  test('is not stopped by a lock that a killed one has left', async () => {
    const empty = await emptyDatabase(database, home.url);
    const own = openSuiteDatabase(empty.url);
    await own.raw('CREATE TABLE knex_migrations_lock (index serial PRIMARY KEY, is_locked integer)');
    await own('knex_migrations_lock').insert({ is_locked: 1 });
    await own.destroy();
    expect((await runProgram('programs/migrate', { DATABASE_URL: empty.url })).code).toBe(0);
    expect((await schemaOf(empty.url)).tables).toContain('accounts');
    await empty.drop();
  });

  test('that fails leaves nothing of itself, ends with 1, and goes on once the cause is gone', async () => {
    const empty = await emptyDatabase(database, home.url);
    const own = openSuiteDatabase(empty.url);
    await own.raw('CREATE TABLE usage_totals ()');
    expect((await runProgram('programs/migrate', { DATABASE_URL: empty.url })).code).toBe(1);
    expect((await schemaOf(empty.url)).tables).toEqual(['usage_totals']);
    await own.raw('DROP TABLE usage_totals');
    expect((await runProgram('programs/migrate', { DATABASE_URL: empty.url })).code).toBe(0);
    await own.destroy();
    await empty.drop();
  });

  test('of an older release starts on a newer schema', async () => {
    const { name } = FUTURE_MIGRATION;
    await database('knex_migrations').insert({ name, batch: 2, migration_time: new Date() });
    expect((await runProgram('programs/migrate', { DATABASE_URL: home.url })).code).toBe(0);
    await database('knex_migrations').where({ name }).delete();
  });

  test('is waited for by await-migrations, which itself changes nothing', async () => {
    const empty = await emptyDatabase(database, home.url);
    const settings = { DATABASE_URL: empty.url };
    const waiting = runProgram('programs/await-migrations', settings);
    const own = openSuiteDatabase(empty.url);
    await waitFor(async () => {
      const sessions = await own('pg_stat_activity').where({ datname: new URL(empty.url).pathname.slice(1) });
      return sessions.length > 1;
    });
    expect(await own('pg_tables').where({ schemaname: 'public' })).toEqual([]);
    await own.destroy();
    expect((await runProgram('programs/migrate', settings)).code).toBe(0);
    const { code, stdout } = await waiting;
    expect([code, stdout]).toEqual([0, expect.stringContaining(MIGRATIONS[0]?.name ?? '')]);
    expect((await runProgram('programs/await-migrations', settings)).stdout).not.toContain('waiting');
    await empty.drop();
  });

  test('without settings, or without a Postgres, ends with 1 and says why', async () => {
    const without = await runProgram('programs/migrate', {});
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('DATABASE_URL: is not set')]);
    const url = `postgres://user:hunter2-hunter2@127.0.0.1:${String(await freePort())}/nothing`;
    const away = await runProgram('programs/migrate', { DATABASE_URL: url });
    expect([away.code, away.stdout]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
    expect(away.stdout + away.stderr).not.toContain('hunter2');
  });
});

describe('the database refuses', () => {
  const from = (day: string) => new Date(`2026-${day}T00:00:00Z`);
  const until = (day: string) => new Date(`2026-${day}T23:59:59Z`);

  test('periods of one account that overlap, be it by the last second', async () => {
    const account_id = await insertAccount(database);
    await insertPeriod(database, account_id, { started_at: from('03-01'), ended_at: until('03-31') });
    for (const [start, end] of [
      [from('03-31'), until('04-30')],
      [until('03-31'), until('04-30')],
      [from('02-01'), from('03-01')],
      [from('03-10'), until('03-11')],
      [from('01-01'), until('12-31')],
    ] as const) {
      const overlapping = insertPeriod(database, account_id, { started_at: start, ended_at: end });
      await expect(overlapping).rejects.toMatchObject({ constraint: 'billing_periods_no_overlap' });
    }
    await insertPeriod(database, account_id, { started_at: from('04-01'), ended_at: until('04-30') });
    await insertPeriod(database, await insertAccount(database), {
      started_at: from('03-01'),
      ended_at: until('03-31'),
    });
  });

  test('one of two overlapping periods that come at once', async () => {
    const account_id = await insertAccount(database);
    const outcomes = await Promise.allSettled([1, 2].map(() => insertPeriod(database, account_id)));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('a period that ends before it has begun', async () => {
    const account_id = await insertAccount(database);
    const backwards = insertPeriod(database, account_id, {
      started_at: until('03-31'),
      ended_at: from('03-01'),
    });
    await expect(backwards).rejects.toThrow();
  });

  test('an account in two teams, in whichever roles', async () => {
    const [manager, member, other] = [
      await insertAccount(database),
      await insertAccount(database),
      await insertAccount(database),
    ];
    await insertTeam(database, manager, member);
    await expect(insertTeam(database, manager)).rejects.toMatchObject({ constraint: 'team_members_pkey' });
    await expect(insertTeam(database, member)).rejects.toMatchObject({ constraint: 'team_members_pkey' });
    await expect(insertTeam(database, other, manager)).rejects.toMatchObject({
      constraint: 'team_members_pkey',
    });
    await expect(insertTeam(database, other, member)).rejects.toMatchObject({
      constraint: 'team_members_pkey',
    });
  });

  test('a second manager of a team', async () => {
    const manager = await insertAccount(database);
    await insertTeam(database, manager);
    const [membership] = await database('team_members')
      .where({ account_id: manager })
      .select<{ team_id: number }[]>();
    const second = database('team_members').insert({
      account_id: await insertAccount(database),
      team_id: membership?.team_id,
      role: 'manager',
    });
    await expect(second).rejects.toMatchObject({ constraint: 'team_members_manager_key' });
  });

  test('an e-mail address that differs only by its case', async () => {
    const name = randomUUID();
    await insertAccount(database, { email: `${name}@example.com` });
    await expect(
      insertAccount(database, { email: `${name.toUpperCase()}@EXAMPLE.com` }),
    ).rejects.toMatchObject({
      constraint: 'accounts_email_key',
    });
  });

  test.each([59, 3_153_600_001])('a token lifespan of %d seconds', async (token_lifespan_sec) => {
    const account_id = await insertAccount(database);
    await expect(insertApplication(database, account_id, { token_lifespan_sec })).rejects.toThrow(
      /check constraint/,
    );
  });

  test.each([60, 3_153_600_000])('but not one of %d seconds', async (token_lifespan_sec) => {
    await insertApplication(database, await insertAccount(database), { token_lifespan_sec });
  });

  test.each([
    { points_limit: -1 },
    { points_limit: '5' },
    { rate_limit: 1.5 },
    { session_limit: true },
    { subscription_limit: [1] },
    { time_sec_limit: {} },
    { traffic_bytes_limit: 2 ** 53 },
    { team_slots_limit: [] },
  ])('a description with the limit %j', async (description: Record<string, unknown>) => {
    const account_id = await insertAccount(database);
    await expect(insertPeriod(database, account_id, { description })).rejects.toMatchObject({
      constraint: 'plan_description_limits',
    });
  });

  test('but not one with any other attributes', async () => {
    const description = {
      points_limit: 0,
      rate_limit: null,
      my_limit: -1,
      nested: { points_limit: 'x' },
      list: [],
    };
    await insertPeriod(database, await insertAccount(database), { description });
  });
});
