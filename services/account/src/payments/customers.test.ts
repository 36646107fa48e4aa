import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../test/suite/account-under-test.ts';
import { insertAccount } from '../../test/suite/database/records.ts';
import { createQuery } from '../platform/database/query.ts';
import { customerOf } from './customers.ts';

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

/** Postgres looks for a conflict first, and then makes the entries of indexes in the order in which these were created. */
async function slowBetweenLookAndEntry(): Promise<void> {
  await database.raw(`
    CREATE FUNCTION slow_entry(customer_id text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_sleep(0.2); RETURN customer_id; END';
    ALTER TABLE stripe_customers DROP CONSTRAINT stripe_customers_pkey,
      DROP CONSTRAINT stripe_customers_customer_id_key;
    CREATE INDEX slow ON stripe_customers (slow_entry(customer_id));
    ALTER TABLE stripe_customers ADD PRIMARY KEY (account_id), ADD UNIQUE (customer_id)`);
}

test('requests at the same time agree on the customer that Stripe gives them all', async () => {
  await slowBetweenLookAndEntry();
  const account_id = await insertAccount(database);
  const provider = { createCustomer: () => Promise.resolve('cus_1') };
  const found = await Promise.all(
    [1, 2, 3].map(() =>
      customerOf(createQuery(database), provider, { account_id, email: 'ada@example.com', name: 'Ada' }),
    ),
  );
  expect(found).toEqual(['cus_1', 'cus_1', 'cus_1']);
});

test("another account's customer is not charged", async () => {
  const query = createQuery(database);
  const provider = { createCustomer: () => Promise.resolve('cus_2') };
  const [first, second] = [await insertAccount(database), await insertAccount(database)];
  const person = { email: 'bo@example.com', name: 'Bo' };
  await customerOf(query, provider, { account_id: first, ...person });
  await expect(customerOf(query, provider, { account_id: second, ...person })).rejects.toThrow(
    'cus_2 is the customer of another account',
  );
});
