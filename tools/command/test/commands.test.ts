import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { startOperatedStack } from './operated-stack.ts';
import type { OperatedStack } from './operated-stack.ts';

let stack: OperatedStack;

beforeAll(async () => {
  stack = await startOperatedStack();
});

afterAll(async () => {
  await stack.close();
});

type Plan = {
  plan_id: number;
  description: Record<string, unknown>;
  grace_sec: number;
  archived_at: string | null;
};

const newPlan = (...options: string[]) =>
  stack.json<Plan>('plans', 'create', '--yes', '--name', randomUUID(), ...options);

async function newAccount(): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  const made = await stack.json<{ account_id: number }>(
    'accounts',
    'create',
    '--email',
    email,
    '--name',
    'Ada',
  );
  return String(made.account_id);
}

async function newSubscription(): Promise<{ id: string; account: string }> {
  const account = await newAccount();
  const plan = String((await newPlan()).plan_id);
  const made = await stack.json<{ subscription_id: number }>(
    'subscriptions',
    'create',
    '--account',
    account,
    '--plan',
    plan,
  );
  return { id: String(made.subscription_id), account };
}

describe('plans and products', () => {
  test('are made, shown, changed, archived and restored', async () => {
    const product = await stack.json<{ product_id: number }>('products', 'create', '--name', randomUUID());
    const productId = String(product.product_id);
    const made = await newPlan('--limit-points', '1000', '--product', productId, '--grace-sec', '60');
    const id = String(made.plan_id);
    expect(made).toMatchObject({
      ...(product.product_id && { product_id: product.product_id }),
      grace_sec: 60,
    });
    expect(made.description).toEqual({ points_limit: 1_000 });
    expect(
      await stack.json('plans', 'update', id, '--limit-rate', '5', '--limit-points', 'none'),
    ).toMatchObject({
      description: { rate_limit: 5 },
      grace_sec: 60,
    });
    expect((await stack.json<Plan>('plans', 'archive', id)).archived_at).toEqual(expect.any(String));
    const archived = await stack.json<{ plans: Plan[] }>(
      'plans',
      'list',
      '--archived',
      'yes',
      '--product',
      productId,
    );
    expect(archived.plans.map(({ plan_id }) => plan_id)).toEqual([made.plan_id]);
    expect(await stack.json('plans', 'restore', id)).toMatchObject({ archived_at: null });
    expect(await stack.json('plans', 'get', id)).toMatchObject({ plan_id: made.plan_id, archived_at: null });
    const renamed = randomUUID();
    await stack.json('products', 'update', productId, '--name', renamed);
    expect(await stack.json('products', 'get', productId)).toMatchObject({ name: renamed });
  });

  test('are published with their entry in the catalogue, which can be changed, and taken out again', async () => {
    const id = String((await newPlan('--limit-points', '1000')).plan_id);
    const refused = await stack.run(['plans', 'publish', id]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('price_year is required')]);
    const entry = ['--price-month', '€49', '--include', '1,000 points', 'Support', '--max-slots', '5'];
    expect(await stack.json('plans', 'publish', id, '--position', '7', ...entry)).toMatchObject({
      public_position: 7,
      price_month: '€49',
      price_year: null,
      included: ['1,000 points', 'Support'],
      team_slots_max: 5,
    });
    const changed = ['--price-year', '€490', '--max-slots', 'none'];
    expect(await stack.json('plans', 'publish', id, ...changed)).toMatchObject({
      public_position: 7,
      price_month: '€49',
      price_year: '€490',
      team_slots_max: null,
    });
    const listed = () => stack.json<{ plans: Plan[] }>('plans', 'list', '--public', 'yes');
    expect((await listed()).plans.map(({ plan_id }) => String(plan_id))).toContain(id);
    expect(await stack.json('plans', 'unpublish', id)).toMatchObject({ public_position: null });
    expect((await listed()).plans.map(({ plan_id }) => String(plan_id))).not.toContain(id);
  });

  test('without any limit are made when that is said to be meant', async () => {
    const name = randomUUID();
    for (const limits of [[], ['--limit-points', 'none']]) {
      const asked = await stack.run(['plans', 'create', '--name', name, ...limits]);
      expect([asked.code, asked.stdout, asked.stderr]).toEqual([2, '', expect.stringContaining('no limit')]);
    }
    const made = await stack.json<Plan>('plans', 'create', '--name', name, '--limit-points', '0');
    const id = String(made.plan_id);
    const emptied = await stack.run(['plans', 'update', id, '--limit-points', 'none']);
    expect([emptied.code, emptied.stderr]).toEqual([2, expect.stringContaining('Add --yes')]);
    expect(await stack.json('plans', 'update', id, '--grace-sec', '5')).toMatchObject({ grace_sec: 5 });
    expect(await stack.json('plans', 'update', id, '--limit-points', 'none', '--yes')).toMatchObject({
      description: {},
    });
    expect(await stack.json('plans', 'update', id, '--grace-sec', '6')).toMatchObject({ grace_sec: 6 });
  });

  test('with a mistyped limit are refused, with the right name, unless --allow-unknown', async () => {
    const description = { point_limit: 5, rate_limit: 60 };
    const args = ['plans', 'create', '--name', randomUUID(), '--description-file', '-', '--json'];
    const stdin = JSON.stringify(description);
    const refused = await stack.run(args, { stdin });
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('description.point_limit');
    expect(refused.stderr).toContain('did you mean points_limit?');
    const made = await stack.run([...args, '--allow-unknown'], { stdin });
    expect([made.code, (JSON.parse(made.stdout) as Plan).description]).toEqual([0, description]);
  });

  test('take a description from stdin, with limits on top of it', async () => {
    const description = { support: 'e-mail', points_limit: 1, tags: ['a'] };
    const { code, stdout } = await stack.run(
      ['plans', 'create', '--name', randomUUID(), '--description-file', '-', '--limit-points', '7', '--json'],
      { stdin: JSON.stringify(description) },
    );
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ description: { ...description, points_limit: 7 } }),
    ]);
  });

  test('are lists of as many pages as there are, once each, as JSON lines and as a table', async () => {
    const wanted = await Promise.all([1, 2, 3, 4, 5].map(() => newPlan()));
    const ids = wanted.map(({ plan_id }) => plan_id);
    const { stdout } = await stack.run(['plans', 'list', '--all', '--limit', '2', '--json']);
    const seen = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Plan).plan_id);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(seen.toSorted((one, other) => other - one));
    expect(seen).toEqual(expect.arrayContaining(ids));
    const first = await stack.json<{ plans: Plan[]; next_cursor: string }>('plans', 'list', '--limit', '2');
    const second = await stack.json<{ plans: Plan[] }>(
      'plans',
      'list',
      '--limit',
      '2',
      '--cursor',
      first.next_cursor,
    );
    expect([...first.plans, ...second.plans].map(({ plan_id }) => plan_id)).toEqual(seen.slice(0, 4));
    const table = await stack.run(['plans', 'list', '--limit', '1']);
    expect(table.stdout.split('\n')[0]).toMatch(/^PLAN_ID +NAME +PRODUCT_ID/);
    expect(table.stderr).toMatch(/^More: --cursor \d+, or --all\n$/);
  });
});

describe('accounts, periods and subscriptions', () => {
  test('an account is found, blocked and unblocked', async () => {
    const id = await newAccount();
    expect(await stack.json('accounts', 'get', id)).toMatchObject({ status: 'none', team: null });
    await stack.json('accounts', 'block', id, '--yes');
    const blocked = await stack.json<{ accounts: { account_id: number }[] }>(
      'accounts',
      'list',
      '--blocked',
      'yes',
    );
    expect(blocked.accounts.map(({ account_id }) => String(account_id))).toContain(id);
    expect(await stack.json('accounts', 'unblock', id)).toMatchObject({ blocked_at: null });
  });

  test('a period by hand is made with times of any offset, blocked, ended and deleted', async () => {
    const [account, { plan_id }] = [await newAccount(), await newPlan()];
    const create = (start: string, end: string) =>
      stack.json<{ period_id: number }>(
        'periods',
        'create',
        '--account',
        account,
        '--plan',
        String(plan_id),
        '--start',
        start,
        '--end',
        end,
      );
    const present = await create('2020-01-01T02:00:00+02:00', '2099-12-31T23:59:59Z');
    expect(present).toMatchObject({ started_at: '2020-01-01T00:00:00.000Z', status: 'active' });
    const id = String(present.period_id);
    expect(await stack.json('periods', 'block', id, '--yes')).toMatchObject({ status: 'blocked' });
    expect(await stack.json('periods', 'list', '--account', account, '--blocked', 'yes')).toMatchObject({
      periods: [{ period_id: present.period_id }],
    });
    expect(await stack.json('periods', 'unblock', id)).toMatchObject({ status: 'active' });
    expect(await stack.json('periods', 'team-slots', id, '4')).toMatchObject({ team_slots_limit: 4 });
    expect(await stack.json('periods', 'team-slots', id, 'none')).toMatchObject({ team_slots_limit: null });
    expect(await stack.json('periods', 'end', id, '--yes')).toMatchObject({ status: 'expired' });
    // Dates are whole days.
    const ahead = await create('2099-01-01', '2099-01-31');
    expect(ahead).toMatchObject({
      started_at: '2099-01-01T00:00:00.000Z',
      ended_at: '2099-01-31T23:59:59.000Z',
    });
    const later = String(ahead.period_id);
    expect(await stack.run(['periods', 'delete', later, '--yes'])).toEqual({
      code: 0,
      stdout: `Deleted period ${later}.\n`,
      stderr: '',
    });
    expect((await stack.run(['periods', 'get', later])).code).toBe(1);
  });

  test('what was before a subscription can be added by hand, what is beside it not', async () => {
    const { account } = await newSubscription();
    const plan = String((await newPlan()).plan_id);
    const args = [
      'periods',
      'create',
      '--account',
      account,
      '--plan',
      plan,
      '--start',
      '2020-01-01T00:00:00Z',
    ];
    expect(await stack.json(...args, '--end', '2020-01-31T23:59:59Z')).toMatchObject({ status: 'expired' });
    const beside = await stack.run([...args, '--end', '2099-01-01T00:00:00Z']);
    expect([beside.code, beside.stderr]).toEqual([1, expect.stringContaining('(subscription_exists)')]);
  });

  test('a subscription changes its plan, is cancelled, resumed and ended', async () => {
    const { id, account } = await newSubscription();
    const plan = String((await newPlan()).plan_id);
    expect(await stack.json('subscriptions', 'change-plan', id, '--plan', plan)).toMatchObject({
      pending_plan_id: Number(plan),
    });
    expect(await stack.json('subscriptions', 'cancel', id, '--yes')).toMatchObject({
      cancel_at_period_end: true,
    });
    expect(await stack.json('subscriptions', 'resume', id)).toMatchObject({ cancel_at_period_end: false });
    expect(await stack.json('subscriptions', 'team-slots', id, '3')).toMatchObject({ team_slots_limit: 3 });
    expect(await stack.json('subscriptions', 'cancel', id, '--now', '--yes')).toMatchObject({
      status: 'ended',
    });
    expect(await stack.json('subscriptions', 'get', id)).toMatchObject({ status: 'ended' });
    expect(
      await stack.json('subscriptions', 'list', '--account', account, '--status', 'ended'),
    ).toMatchObject({ subscriptions: [{ subscription_id: Number(id) }] });
  });
});
