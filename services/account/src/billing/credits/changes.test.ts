import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { insertGrant } from '../../../test/suite/database/credits.ts';
import { insertAccount } from '../../../test/suite/database/records.ts';
import { createTransact } from '../../platform/database/query.ts';
import { voidCredit } from './changes.ts';

let home: Awaited<ReturnType<typeof createDatabase>>;
let database: Knex;

beforeAll(async () => {
  home = await createDatabase();
  database = openSuiteDatabase(home.url);
});

afterAll(async () => {
  await database.destroy();
  await home.drop();
});

test.each(['live', 'erased'])('the account is locked at the instant of a void: %s', async (state) => {
  const account_id = await insertAccount(database);
  const credit_id = await insertGrant(database, account_id);
  if (state === 'erased') await database('accounts').where({ account_id }).update({ erased_at: new Date() });
  let unlocked: number | undefined;
  const lockInstant = async () => {
    const { rows } = await database.raw<{ rows: unknown[] }>(
      'SELECT FROM accounts WHERE account_id = ? FOR NO KEY UPDATE SKIP LOCKED',
      [account_id],
    );
    unlocked = rows.length;
    return Date.now();
  };
  const by = { actor: 'operator:suite', address: 'none', request_id: 'none' };
  const voided = await createTransact(database)((inside) =>
    voidCredit(inside, lockInstant, credit_id, 'voided', by),
  );
  expect(voided.void_requested_at).toEqual(expect.any(Date));
  expect(unlocked).toBe(0);
});
