import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startOperatedStack } from './operated-stack.ts';
import type { OperatedStack } from './operated-stack.ts';

let stack: OperatedStack;

beforeAll(async () => {
  stack = await startOperatedStack();
});

afterAll(async () => {
  await stack.close();
});

type Seeded = {
  made: Record<string, number>;
  usage: { counted: number; repeated: number; refused: number } | null;
  sign_in: { email: string; password: string | null };
};

const TABLES = [
  'accounts',
  'plans',
  'billing_periods',
  'subscriptions',
  'applications',
  'team_members',
  'usage_totals',
];

async function contents(): Promise<unknown[]> {
  const tables = TABLES.map((table) => stack.sql(`SELECT * FROM ${table} ORDER BY 1, 2`));
  return Promise.all(tables);
}

test('seed fills an empty stack, changes nothing the second time, and refuses one that is somebody’s', async () => {
  const first = await stack.json<Seeded>('seed', '--accounts', '7', '--person', 'shown@example.com');
  expect(first.sign_in).toEqual({ email: 'shown@example.com', password: null, url: null });
  expect(first.made).toMatchObject({ accounts: 10, teams: 1, plans: 3, tokens: 1 });
  expect(first.usage).toMatchObject({ repeated: 0, refused: 0 });
  const before = await contents();
  const second = await stack.json<Seeded>('seed', '--accounts', '7', '--person', 'shown@example.com');
  expect(Object.values(second.made).every((number) => number === 0)).toBe(true);
  expect(second.usage).toEqual({ counted: 0, repeated: first.usage?.counted, refused: 0 });
  expect(await contents()).toEqual(before);

  const statuses = await stack.sql<{ name: string }>(
    'SELECT DISTINCT name FROM plans JOIN billing_periods USING (plan_id) ORDER BY name',
  );
  expect(statuses.length).toBeGreaterThanOrEqual(2);
  expect(await stack.sql('SELECT FROM accounts WHERE blocked_at IS NOT NULL')).toHaveLength(1);
  expect((await stack.run(['usage', 'check'])).code).toBe(0);

  await stack.json('accounts', 'create', '--email', 'customer@example.com', '--name', 'Somebody');
  const refused = await stack.run(['seed', '--accounts', '8', '--person', 'shown@example.com']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('1 account(s) of others')]);
  expect(await stack.sql('SELECT FROM accounts')).toHaveLength(11);
  const printed = await stack.run(['seed', '--accounts', '8', '--person', 'shown@example.com', '--yes']);
  expect([printed.code, printed.stdout]).toEqual([0, expect.stringContaining('Made: 1 accounts')]);
});
