import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { waitFor } from '@tollgate/stack/wait-for';
import { unlessBusy } from '@tollgate/testbed/unless-busy';
import { done, makeAccount, makePlan, subscribe } from '../../test/suite/billing.ts';
import { singleRow } from '../platform/database/single-row.ts';
import { operatePath } from '../../test/suite/operator.ts';
import type { Answer } from '../../test/suite/operator.ts';
import { startOperatedAccount } from '../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../test/suite/operated-account.ts';
import { sessionsOf } from '../../test/suite/database/sessions.ts';

const SIGN_UP_PLAN = 'Free';

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount({ settings: { SIGN_UP_PLAN } });
});

afterEach(async () => {
  await suite.database.raw('TRUNCATE products, plans, packs, subscriptions, billing_periods CASCADE');
});

afterAll(() => suite.close());

type PlanRow = { plan_id: number; key: string; name: string; description: Record<string, unknown> };

async function planRow(key: string): Promise<PlanRow> {
  return singleRow(await suite.database<PlanRow>('plans').where({ key }));
}

type Changes = {
  digest: string;
  changes: Record<string, unknown>[];
  needs: string[];
  pruned: number;
};

const post = (what: 'diff' | 'apply', file: unknown, options: object = {}): Promise<Answer> =>
  operatePath(suite.account, 'POST', `/private/plans-as-code/${what}`, {
    source: typeof file === 'string' ? file : stringify(file),
    ...options,
  });

async function changesOf(what: 'diff' | 'apply', file: unknown, options: object = {}): Promise<Changes> {
  const { status, body } = await post(what, file, options);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as Changes;
}

const apply = (file: unknown, options: object = {}) => changesOf('apply', file, options);
const diff = (file: unknown, options: object = {}) => changesOf('diff', file, options);

async function exported(): Promise<string> {
  const { source } = await done<{ source: string }>(suite.account, 'GET', '/private/plans-as-code');
  return source;
}

async function refusalOf(answered: Promise<Answer>) {
  const { status, body } = await answered;
  return { status, code: body['code'] };
}

const FILE = {
  products: { 'data-api': { name: 'Data API' } },
  plans: {
    starter: {
      name: 'Starter',
      product: 'data-api',
      description: { points_limit: 100_000, rate_limit: 60 },
      catalogue: { position: 1, price_month: '€49 per month', included: ['Support by mail'] },
      prices: { month: { currency: 'eur', unit_amount: 4_900 } },
      team_slot_prices: { month: { currency: 'eur', unit_amount: 500 } },
    },
    free: { name: 'Free', description: { points_limit: 1_000 } },
  },
  packs: { 'ten-thousand': { name: '10,000 points', points: 10_000, currency: 'eur', unit_amount: 1_900 } },
};

test('a file creates what it names; a second time it changes nothing', async () => {
  const made = await apply(FILE);
  expect(made.changes.map(({ kind, key, action }) => [kind, key, action])).toEqual([
    ['product', 'data-api', 'create'],
    ['plan', 'starter', 'create'],
    ['plan', 'free', 'create'],
    ['pack', 'ten-thousand', 'create'],
  ]);
  const rows = await suite.database('plans').orderBy('plan_id');
  expect(rows).toMatchObject([
    { key: 'starter', name: 'Starter', grace_sec: 259_200, public_position: 1, managed: true },
    { key: 'free', public_position: null, description: { points_limit: 1_000 }, managed: true },
  ]);
  expect((await apply(FILE)).changes).toEqual([]);
  expect((await diff(await exported(), { prune: true })).changes).toEqual([]);
});

test('each change is in the audit log, with the digest of the file', async () => {
  const { headers } = await post('apply', FILE);
  const request_id = headers.get('x-request-id');
  const entries = await suite.database('audit_log').where({ request_id }).orderBy('audit_id');
  expect(entries).toMatchObject(
    ['product_created', 'plan_created', 'plan_created', 'pack_created'].map((action) => ({
      action,
      actor: 'operator:suite-operator',
      details: { file_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })),
  );
});

test('the entries state before and after: of a change what differs, of a replaced pack both', async () => {
  await apply(FILE);
  const file = {
    plans: { starter: { description: { rate_limit: 120 } } },
    packs: { 'ten-thousand': { points: 12_000 } },
  };
  const { headers } = await post('apply', file, { allow: ['prices'] });
  const request_id = headers.get('x-request-id');
  const entries = await suite
    .database('audit_log')
    .where({ request_id })
    .orderBy('audit_id')
    .select<{ action: string; before: unknown; after: unknown }[]>('action', 'before', 'after');
  expect(entries).toMatchObject([
    {
      action: 'plan_changed',
      before: { 'description.rate_limit': 60 },
      after: { 'description.rate_limit': 120 },
    },
    { action: 'pack_withdrawn', before: { archived: false }, after: { archived: true } },
    { action: 'pack_created', before: null, after: { key: 'ten-thousand', points: 12_000 } },
  ]);
});

test('what the file leaves out stays, and null removes', async () => {
  await apply(FILE);
  const { changes } = await apply({ plans: { starter: { description: { rate_limit: 120 } } } });
  expect(changes).toMatchObject([
    {
      key: 'starter',
      action: 'change',
      fields: [{ field: 'description.rate_limit', before: 60, after: 120 }],
    },
  ]);
  await apply({ plans: { starter: { product: null, catalogue: null, description: { colour: 'blue' } } } });
  const starter = await planRow('starter');
  expect(starter).toMatchObject({
    product_id: null,
    public_position: null,
    price_month: '€49 per month',
    description: { points_limit: 100_000, rate_limit: 120, colour: 'blue' },
  });
});

describe('has to be allowed by itself', () => {
  test.each([
    ['a limit that is removed', { plans: { starter: { description: { points_limit: null } } } }, 'unlimited'],
    [
      'another price',
      { plans: { starter: { prices: { month: { currency: 'eur', unit_amount: 900 } } } } },
      'prices',
    ],
    [
      'another price of team slots',
      { plans: { starter: { team_slot_prices: { month: { currency: 'eur', unit_amount: 900 } } } } },
      'prices',
    ],
    [
      'another price of further points',
      { plans: { overused: { description: { overage: { price_per_1000: 900, currency: 'eur' } } } } },
      'prices',
    ],
    ['no more further points', { plans: { overused: { description: { overage: null } } } }, 'prices'],
    [
      'a limit of a call that is removed',
      { plans: { free: { description: { points_per_call_limit: null } } } },
      'unlimited',
    ],
    [
      'a limit of what agents run',
      { plans: { free: { description: { mcp_points_per_call_limit: null } } } },
      'unlimited',
    ],
    [
      'a guard that is removed',
      { plans: { free: { description: { graphql_max_depth: null } } } },
      'unlimited',
    ],
    [
      'a guard that is turned off',
      { plans: { free: { description: { graphql_max_aliases: 0 } } } },
      'unlimited',
    ],
    ['another text of a price', { plans: { starter: { catalogue: { price_month: '€9' } } } }, 'prices'],
    ['another price of a pack', { packs: { 'ten-thousand': { unit_amount: 2_900 } } }, 'prices'],
  ])('%s', async (_, file, needed) => {
    await apply(FILE);
    const rules = { points_per_call_limit: 10, mcp_points_per_call_limit: 5, graphql_max_depth: 15 };
    const overused = {
      name: 'Overused',
      description: { points_limit: 1, overage: { price_per_1000: 500, currency: 'eur' } },
    };
    await apply({ plans: { free: { description: rules }, overused } });
    const before = await exported();
    expect((await diff(file)).needs).toEqual([needed]);
    const { status, body } = await post('apply', file);
    expect({ status, body }).toMatchObject({
      status: 409,
      body: { code: 'allowance_required', needs: [needed] },
    });
    expect(await exported()).toBe(before);
    await apply(file, { allow: [needed] });
    expect((await diff(file)).changes).toEqual([]);
  });
});

test('a pack is replaced, since it is never edited', async () => {
  await apply(FILE);
  const file = { packs: { 'ten-thousand': { points: 12_000 } } };
  const { changes } = await apply(file, { allow: ['prices'] });
  expect(changes).toMatchObject([{ kind: 'pack', action: 'replace' }]);
  const packs = await suite.database('packs').orderBy('pack_id');
  expect(packs).toMatchObject([
    { points: 10_000, withdrawn_at: expect.any(Date) },
    { points: 12_000, withdrawn_at: null, key: 'ten-thousand', unit_amount: 1_900 },
  ]);
});

test('a product that is renamed keeps its plans, and its former key is no product', async () => {
  await apply(FILE);
  const renamed = { products: { data: { was: 'data-api' } } };
  const wrong = await post('diff', { ...renamed, plans: { starter: { product: 'data-api' } } });
  expect(wrong.body['errors']).toMatchObject([{ field: 'plans.starter.product' }]);
  await apply({ ...renamed, plans: { starter: { product: 'data' } } });
  const starter = await suite.database('plans').join('products', 'products.product_id', 'plans.product_id');
  expect(starter).toMatchObject([{ name: 'Data API' }]);
});

test('a price keeps its tax behaviour unless the file states another', async () => {
  await apply({
    plans: {
      taxed: {
        name: 'Taxed',
        prices: { month: { currency: 'eur', unit_amount: 4_900, tax_behavior: 'inclusive' } },
      },
    },
  });
  await apply(
    { plans: { taxed: { prices: { month: { currency: 'eur', unit_amount: 5_900 } } } } },
    { allow: ['prices'] },
  );
  const prices = await suite.database('plan_prices').whereNull('withdrawn_at');
  expect(prices).toMatchObject([{ unit_amount: 5_900, tax_behavior: 'inclusive' }]);
});

test('what the API has archived, or allowed by itself, is exported and applied without a change', async () => {
  await apply(FILE);
  const { plan_id } = await planRow('starter');
  await done(suite.account, 'POST', `/private/plans/${String(plan_id)}/archive`);
  await makePlan(suite.account, { description: { max_points: 5 }, allow_unknown: true });
  expect((await diff(await exported(), { prune: true })).changes).toEqual([]);
});

test('a long mapping is read in the time of its length', async () => {
  const keys = Array.from({ length: 30_000 }, (_, index) => `k${String(index)}`).join(',');
  const { status, body } = await post('diff', `{${keys}}`);
  expect(status).toBe(400);
  expect((body['errors'] as unknown[]).length).toBeLessThanOrEqual(100);
});

test('names can be swapped, and keys renamed, also by a file that was applied before', async () => {
  await apply(FILE);
  await apply({ plans: { starter: { name: 'Free' }, free: { name: 'Starter' } } });
  const renamed = { plans: { basic: { was: 'free', name: 'Basic' } } };
  await apply(renamed);
  expect((await apply(renamed)).changes).toEqual([]);
  const names = await suite.database('plans').orderBy('plan_id').select('key', 'name');
  expect(names).toEqual([
    { key: 'starter', name: 'Free' },
    { key: 'basic', name: 'Basic' },
  ]);
});

describe('prune', () => {
  test('archives what files have made or named, never what others have made', async () => {
    await apply(FILE);
    const other = await makePlan(suite.account);
    const { starter } = FILE.plans;
    const file = { products: FILE.products, plans: { starter } };
    const wanted = await diff(file, { prune: true });
    expect(wanted).toMatchObject({
      pruned: 2,
      changes: [
        { kind: 'plan', key: 'free', action: 'archive', pruned: true },
        { kind: 'pack', key: 'ten-thousand', action: 'archive', pruned: true },
      ],
    });
    expect(await refusalOf(post('apply', file, { prune: true }))).toEqual({
      status: 409,
      code: 'changed_meanwhile',
    });
    await apply(file, { prune: true, expect_pruned: 2 });
    const archived = await suite.database('plans').whereNotNull('archived_at').pluck('key');
    expect(archived).toEqual(['free']);
    expect(await suite.database('plans').where({ plan_id: other }).select('archived_at')).toEqual([
      { archived_at: null },
    ]);
    expect((await diff(file, { prune: true })).changes).toEqual([]);
  });

  test('a plan that comes back is restored; its customers kept it', async () => {
    await apply(FILE);
    const free = await planRow('free');
    const account_id = await makeAccount(suite.account);
    await subscribe(suite.account, free.plan_id, { account_id });
    const { starter } = FILE.plans;
    const without = { products: FILE.products, plans: { starter }, packs: FILE.packs };
    expect((await diff(without, { prune: true })).changes).toMatchObject([
      { key: 'free', affected: { subscriptions: 1, current_periods: 1, is_sign_up_plan: true } },
    ]);
    await apply(without, { prune: true, expect_pruned: 1 });
    expect(await suite.database('subscriptions').whereNull('ended_at')).toHaveLength(1);
    expect((await apply(FILE)).changes).toMatchObject([{ key: 'free', action: 'restore' }]);
  });
});

describe('one currency for all that a plan charges', () => {
  const usd = { currency: 'usd', unit_amount: 700 };

  test.each([
    ['team slots', { team_slot_prices: { month: usd } }, 'team_slot_prices.month.currency'],
    [
      'further points',
      { description: { points_limit: 1, overage: { price_per_1000: 1, currency: 'usd' } } },
      'description.overage',
    ],
  ])('another one of %s is refused', async (_, change, field) => {
    await apply(FILE);
    const { status, body } = await post('diff', { plans: { starter: change } });
    expect({ status, errors: body['errors'] }).toEqual({
      status: 400,
      errors: [{ field: `plans.starter.${field}`, message: 'must be eur, the currency of prices.month' }],
    });
  });

  test('all of them change at once', async () => {
    await apply(FILE);
    const starter = {
      description: { points_limit: 1, overage: { price_per_1000: 1, currency: 'usd' } },
      prices: { month: usd },
      team_slot_prices: { month: { ...usd } },
    };
    await apply({ plans: { starter } }, { allow: ['prices'] });
    const { plan_id } = await planRow('starter');
    const slots = await suite.database('team_slot_prices').where({ plan_id }).orderBy('team_slot_price_id');
    expect(slots).toMatchObject([
      { currency: 'eur', withdrawn_at: expect.any(Date) },
      { currency: 'usd', unit_amount: 700, withdrawn_at: null },
    ]);
    expect((await diff(await exported(), { prune: true })).changes).toEqual([]);
  });
});

describe('further points need included ones,', () => {
  const overage = { price_per_1000: 500, currency: 'eur' };
  const starter = (description: object) => ({ plans: { starter: { description } } });

  test('which the plan may have already', async () => {
    await apply(FILE);
    await apply(starter({ overage }));
    const { description } = await planRow('starter');
    expect(description).toEqual({ points_limit: 100_000, rate_limit: 60, overage });
  });

  test('also if the file only takes them away, or the plan has none', async () => {
    const refused = { field: 'plans.starter.description.overage', message: 'needs a points_limit' };
    await apply(FILE);
    await apply(starter({ overage }));
    expect((await post('diff', starter({ points_limit: null }))).body['errors']).toEqual([refused]);
    await apply(starter({ overage: null }), { allow: ['prices'] });
    await apply(starter({ points_limit: null }), { allow: ['unlimited'] });
    expect((await post('diff', starter({ overage }))).body['errors']).toEqual([refused]);
  });
});

test('a running period stays, one that was opened ahead changes, and the differences say so', async () => {
  await apply(FILE);
  const starter = await planRow('starter');
  const { plan_id } = starter;
  const account_id = await makeAccount(suite.account);
  await subscribe(suite.account, plan_id, { account_id });
  const period = singleRow(
    await suite
      .database<{ period_id: number; account_id: number; ended_at: Date; description: object }>(
        'billing_periods',
      )
      .where({ account_id }),
  );
  const started_at = new Date(period.ended_at.getTime() + 1_000);
  const ahead = await suite
    .database('billing_periods')
    .insert({
      ...period,
      period_id: undefined,
      description: JSON.stringify(period.description),
      started_at,
      ended_at: new Date(started_at.getTime() + 86_400_000),
    })
    .returning<{ period_id: number }[]>('period_id');
  await suite
    .database('usage_totals')
    .insert({ period_id: period.period_id, points: 70_000, requests: 1, time_ms: 20_000, traffic_bytes: 500 })
    .onConflict('period_id')
    .merge();
  for (const [limit, over] of [
    [{ time_sec_limit: 19 }, 1],
    [{ time_sec_limit: 20 }, 0],
    [{ traffic_bytes_limit: 499 }, 1],
    [{ points_limit: 69_999 }, 1],
    [{ points_limit: 200_000 }, 0],
  ] as const) {
    const compared = await diff({ plans: { starter: { description: limit } } });
    expect([limit, compared.changes[0]?.['affected']]).toEqual([
      limit,
      expect.objectContaining({ periods_over_limit: over }),
    ]);
  }
  const file = { plans: { starter: { description: { points_limit: 50_000 } } } };
  const { changes } = await apply(file);
  expect(changes).toMatchObject([
    {
      affected: {
        subscriptions: 1,
        current_periods: 1,
        unstarted_periods: 1,
        periods_over_limit: 1,
        is_sign_up_plan: false,
        is_in_catalogue: true,
      },
    },
  ]);
  const limits = await suite
    .database('billing_periods')
    .whereIn('period_id', [period.period_id, singleRow(ahead).period_id])
    .orderBy('period_id')
    .pluck('description');
  expect(limits).toMatchObject([{ points_limit: 100_000 }, { points_limit: 50_000 }]);
});

test('what is made without a key gets one of its name, with its id if that is taken, also at the same time', async () => {
  const names = ['Größte Menge!', 'größte menge', '???', '!!!'];
  const made = await Promise.all(
    names.map((name) =>
      done<{ product_id: number; key: string }>(suite.account, 'POST', '/private/products', { name }),
    ),
  );
  const keys = made.map(({ key }) => key);
  expect(new Set(keys).size).toBe(4);
  for (const { key, product_id } of made) {
    expect(
      ['gr-te-menge', 'unnamed'].flatMap((first) => [first, `${first}-${String(product_id)}`]),
    ).toContain(key);
  }
  const pack = { name: 'Ten', points: 10, currency: 'eur', unit_amount: 100 };
  const packs: { pack_id: number; key: string }[] = [];
  for (const withdrawn of [false, true, false]) {
    const one = await done<{ pack_id: number; key: string }>(suite.account, 'POST', '/private/packs', pack);
    if (withdrawn) await done(suite.account, 'POST', `/private/packs/${String(one.pack_id)}/withdraw`);
    packs.push(one);
  }
  const [, second, third] = packs.map(({ pack_id }) => pack_id);
  expect(packs.map(({ key }) => key)).toEqual(['ten', `ten-${String(second)}`, `ten-${String(third)}`]);
});

describe('two at a time', () => {
  test('a name that another request takes after the comparison is told, and nothing is applied', async () => {
    const other = await suite.database.transaction();
    const applied = { of: Promise.resolve({} as Answer) };
    try {
      await other('products').insert({ name: 'Data API' });
      applied.of = post('apply', FILE);
      await waitFor(async () => {
        const waiting = await sessionsOf(suite.database).where({ wait_event_type: 'Lock' });
        return waiting.length > 0;
      });
    } finally {
      await other.commit();
    }
    expect(await refusalOf(applied.of)).toEqual({ status: 409, code: 'changed_meanwhile' });
    expect(await suite.database('plans')).toEqual([]);
  });

  test('of two that were compared with the same, one is refused', async () => {
    const { digest } = await diff(FILE);
    const other = { plans: { starter: { name: 'Other', description: {} } } };
    const answers = await Promise.all([post('apply', FILE, { digest }), post('apply', other, { digest })]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'changed_meanwhile' });
  });

  test('ten that weren’t compared follow one another', async () => {
    const files = Array.from({ length: 10 }, (_, index) => ({
      plans: { starter: { name: `Starter ${String(index)}`, description: { points_limit: index } } },
    }));
    const answers = await Promise.all(files.map((file) => unlessBusy(() => post('apply', file))));
    expect(answers.map(({ status }) => status)).toEqual(files.map(() => 200));
    const starter = await planRow('starter');
    expect(starter.name).toBe(`Starter ${String(starter.description['points_limit'])}`);
  });
});

test('a process that is killed in between leaves nothing; the next one applies all', async () => {
  await apply({ plans: { free: FILE.plans.free } });
  const free = await planRow('free');
  const account_id = await makeAccount(suite.account);
  await subscribe(suite.account, free.plan_id, { account_id });
  await suite
    .database('billing_periods')
    .where({ account_id })
    .update({
      started_at: new Date(Date.now() + 86_400_000),
      ended_at: new Date(Date.now() + 2 * 86_400_000),
    });
  const before = await exported();
  const file = { ...FILE, plans: { ...FILE.plans, free: { description: { points_limit: 2_000 } } } };
  const replica = await suite.startReplica();
  // The product and the first plan are written when the second one comes to the period that was opened ahead.
  const gate = await suite.database.transaction();
  try {
    await gate('billing_periods').where({ account_id }).forUpdate();
    const applied = operatePath(replica, 'POST', '/private/plans-as-code/apply', {
      source: stringify(file),
    }).catch(() => 'no answer');
    await waitFor(async () => {
      const waiting = await sessionsOf(suite.database).where({ wait_event_type: 'Lock' });
      return waiting.length > 0;
    });
    await replica.kill();
    expect(await applied).toBe('no answer');
  } finally {
    await gate.rollback();
  }
  await waitFor(async () => (await exported()) === before);
  expect(await suite.database('products')).toEqual([]);
  expect((await apply(file)).changes.map(({ key }) => key)).toEqual([
    'data-api',
    'starter',
    'free',
    'ten-thousand',
  ]);
});

test('what can’t be applied as a whole leaves nothing', async () => {
  await suite.database.raw(`
    CREATE FUNCTION no_packs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no packs'; END $$;
    CREATE TRIGGER no_packs BEFORE INSERT ON packs FOR EACH ROW EXECUTE FUNCTION no_packs()`);
  try {
    expect((await post('apply', FILE)).status).toBe(500);
  } finally {
    await suite.database.raw('DROP FUNCTION no_packs CASCADE');
  }
  expect(await suite.database('plans')).toEqual([]);
  expect(await suite.database('products')).toEqual([]);
  await apply(FILE);
});

describe('a file is refused', () => {
  const WITHOUT_NAME = { plans: { starter: { description: {} } } };

  test.each([
    ['a key twice', 'plans:\n  a: { name: A }\n  a: { name: B }\n', 'source', /twice/],
    ['an alias', 'plans: { a: &x { name: A }, b: *x }', 'source', /not allowed/],
    ['a tag', 'plans: { a: !!map { name: A } }', 'source', /tag/],
    ['two documents', 'plans: {}\n---\nplans: {}\n', 'source', /one document/],
    ['no mapping', '- plans', '', /mapping/],
    ['an unknown member', 'plan: {}', 'plan', /did you mean plans/],
    [
      'a misspelled member',
      'plans: { a: { nmae: A, naem: B, grace-sec: 1 } }',
      'plans.a.grace-sec',
      /grace_sec/,
    ],
    ['letters that changed places', 'plans: { a: { nmae: A } }', 'plans.a.nmae', /did you mean name\?$/],
    ['a member of packs in a plan', 'plans: { a: { name: A, pointss: 1 } }', 'plans.a.pointss', /here$/],
    [
      'a misspelled entry of the catalogue',
      'plans: { a: { catalogue: { positon: 1 } } }',
      'plans.a.catalogue.positon',
      /mean position\?$/,
    ],
    [
      'a misspelled limit',
      'plans: { a: { name: A, description: { point_limit: 1 } } }',
      'plans.a.description.point_limit',
      /points_limit/,
    ],
    [
      'a number as text',
      'plans: { a: { name: A, description: { points_limit: "1" } } }',
      'plans.a.description.points_limit',
      /whole number/,
    ],
    ['a yes of YAML 1.1', 'plans: { a: { name: A, archived: yes } }', 'plans.a.archived', /true or false/],
    ['a key with capitals', 'plans: { Starter: { name: A } }', 'plans.Starter', /lowercase/],
    ['a new plan without a name', stringify(WITHOUT_NAME), 'plans.starter.name', /required/],
    ['an unknown product', 'plans: { a: { name: A, product: nothing } }', 'plans.a.product', /no product/],
    [
      'a member of a price',
      'plans: { a: { name: A, prices: { month: { curency: eur, unit_amount: 900 } } } }',
      'plans.a.prices.month.curency',
      /mean currency\?$/,
    ],
    [
      'an interval',
      'plans: { a: { name: A, team_slot_prices: { moth: null } } }',
      'plans.a.team_slot_prices.moth',
      /mean month\?$/,
    ],
    [
      'a former key twice',
      'plans: { a: { name: A, was: x }, b: { name: B, was: x } }',
      'plans.b.was',
      /another entry/,
    ],
    ['a former key that nothing has', 'plans: { a: { name: A, was: nothing } }', 'plans.a.was', /no nothing/],
    [
      'a catalogue without a price',
      'plans: { a: { name: A, catalogue: {} } }',
      'plans.a.catalogue.price_month',
      /required/,
    ],
    [
      'an archived plan in the catalogue',
      'plans: { a: { name: A, archived: true, catalogue: { price_month: x } } }',
      'plans.a.catalogue',
      /archived/,
    ],
    ['a name twice', 'plans: { a: { name: A }, b: { name: A } }', 'plans.b.name', /taken/],
    ['a pack without a price', 'packs: { a: { name: A, points: 1 } }', 'packs.a.currency', /required/],
    [
      'an amount below the least',
      'packs: { a: { name: A, points: 1, currency: eur, unit_amount: 1 } }',
      'packs.a.unit_amount',
      /at least/,
    ],
  ])('%s', async (_, source, field, message) => {
    const { status, body } = await post('diff', source);
    expect(status).toBe(400);
    expect(body['errors']).toContainEqual({ field, message: expect.stringMatching(message) });
  });

  test('more than 1 MiB', async () => {
    const { status } = await post('diff', `# ${'x'.repeat(1_048_576)}`);
    expect(status).toBe(400);
  });

  test('a name that another plan has', async () => {
    await makePlan(suite.account);
    const { name } = singleRow(await suite.database<PlanRow>('plans'));
    const { body } = await post('diff', { plans: { 'another-one': { name } } });
    expect(body['errors']).toEqual([{ field: 'plans.another-one.name', message: 'is taken' }]);
  });
});

test('whatever files make, their export changes nothing, and neither does a file that was applied', async () => {
  const KEYS = ['a', 'b', 'c-1'] as const;
  const text = fc.constantFrom(
    'One',
    'Two: #2',
    '{three}',
    ' four ',
    '5',
    'true',
    'null',
    '- six',
    'Ünï "quoted"',
  );
  const limit = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: null });
  const price = fc.option(
    fc.record({ currency: fc.constantFrom('eur', 'jpy'), unit_amount: fc.integer({ min: 500, max: 9_000 }) }),
    { nil: null },
  );
  // Where a plan has both, they are of one currency.
  const prices = fc
    .tuple(price, fc.record({ year: price }, { requiredKeys: [] }), fc.boolean())
    .map(([month, others, hasSlots]) => ({
      prices: { month, ...others },
      team_slot_prices: {
        month: hasSlots ? { currency: month?.currency ?? 'eur', unit_amount: 500 } : null,
      },
    }));
  const described = fc.record(
    {
      product: fc.constantFrom(null, ...KEYS),
      description: fc.dictionary(fc.constantFrom('points_limit', 'rate_limit'), limit),
      grace_sec: fc.integer({ min: 0, max: 864_000 }),
      catalogue: fc.option(
        fc.record(
          {
            price_month: text,
            position: fc.integer({ min: 0, max: 9 }),
            included: fc.array(text, { maxLength: 2 }),
            team_slots_max: limit,
          },
          { requiredKeys: ['price_month'] },
        ),
        { nil: null },
      ),
    },
    { requiredKeys: [] },
  );
  const plan = fc.tuple(described, prices).map(([one, sold]) => ({ ...one, ...sold }));
  const pack = fc.record({
    points: fc.integer({ min: 1, max: 1_000 }),
    currency: fc.constantFrom('eur', 'jpy'),
    unit_amount: fc.integer({ min: 500, max: 9_000 }),
    expires_after_days: fc.option(fc.integer({ min: 1, max: 365 }), { nil: null }),
  });
  const named = <T extends object>(each: fc.Arbitrary<T>, prefix: string) =>
    fc
      .dictionary(fc.constantFrom(...KEYS), each)
      .map((entries) =>
        Object.fromEntries(
          Object.entries(entries).map(([key, entry]) => [key, { name: `${prefix} ${key}`, ...entry }]),
        ),
      );
  const file = fc.record({
    plans: named(plan, 'Plan'),
    packs: named(pack, 'Pack'),
    archived: fc.subarray([...KEYS]),
  });
  await apply({ products: Object.fromEntries(KEYS.map((key) => [key, { name: `Product ${key}` }])) });
  const allow = ['unlimited', 'prices'];
  await fc.assert(
    fc.asyncProperty(file, fc.boolean(), async ({ plans, packs, archived }, prune) => {
      const wanted = {
        products: Object.fromEntries(KEYS.map((key) => [key, {}])),
        plans: Object.fromEntries(
          Object.entries(plans).map(([key, entry]) => {
            const { catalogue: _, ...rest } = entry as { catalogue?: unknown };
            return [key, archived.includes(key as 'a') ? { ...rest, archived: true } : entry];
          }),
        ),
        packs,
      };
      const { pruned } = await diff(wanted, { prune });
      await apply(wanted, { prune, allow, expect_pruned: pruned });
      expect((await diff(wanted, { prune })).changes).toEqual([]);
      expect((await diff(await exported(), { prune: true })).changes).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
