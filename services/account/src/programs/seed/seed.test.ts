import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import { clientSecretPeppers, tokenSealingKeys } from '@tollgate/testbed/service-process';
import { verifyPassword } from '../../identity/passwords/password.ts';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { runProgram } from '../../../test/suite/programs.ts';
import { secondsFromNow } from '../../../test/suite/database/records.ts';
import { getUsage, obtainToken } from '../../../test/suite/requests.ts';
import type { SeedInput, SeedResult } from './seed-input.ts';

let suite: AccountUnderTest;
/** A sample that no test changes. */
let sample: { input: SeedInput; result: SeedResult };

beforeAll(async () => {
  suite = await startAccount();
  const input = newInput();
  sample = { input, result: await seed(input) };
});

afterAll(async () => {
  await suite.close();
});

function newInput(): SeedInput {
  const person = (name: string) => ({
    email: `${name}-${randomUUID()}@example.com`,
    name,
    password: `password of ${name}`,
    application: { name: `App of ${name}`, client_id: randomUUID(), client_secret: randomUUID() },
  });
  return { manager: person('Ada'), member: person('Bob') };
}

function run(input: unknown, peppers = clientSecretPeppers) {
  const settings = {
    DATABASE_URL: suite.settings['DATABASE_URL'] ?? '',
    CLIENT_SECRET_PEPPERS: peppers,
    TOKEN_SEALING_KEYS: tokenSealingKeys,
  };
  return runProgram('programs/seed', settings, typeof input === 'string' ? input : JSON.stringify(input));
}

async function seed(input: SeedInput): Promise<SeedResult> {
  const { code, stdout, stderr } = await run(input);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as SeedResult;
}

const periods = (account_id: number) => suite.database('billing_periods').where({ account_id });

describe('seed', () => {
  test('makes accounts whose tokens work: the member is billed to the manager', async () => {
    const { input, result } = sample;
    const token = await obtainToken(suite.auth, input.member.application);
    const usage = usageResponseSchema.parse(await (await getUsage(suite.account, token)).json());
    expect(usage).toMatchObject({
      account_id: result.member.account_id,
      payer_id: result.account_id,
      status: 'active',
      billing_period: {
        plan_name: 'Standard',
        product: { name: 'Data API' },
        limits: { points_limit: 1_000_000, rate_limit: 6_000, time_sec_limit: 0, traffic_bytes_limit: 0 },
      },
    });
    expect(usage.billing_period.description).not.toHaveProperty('time_sec_limit');
    expect(await periods(result.member.account_id)).toEqual([]);
  });

  test('publishes three plans once: what operators change in the catalogue stays', async () => {
    const publicPlans = () =>
      suite.database('plans').whereNotNull('public_position').orderBy('public_position').pluck('name');
    expect(await publicPlans()).toEqual(['Pay as you go', 'Starter', 'Standard', 'Business']);
    expect(await suite.database('plans').where({ name: 'Trial' })).toMatchObject([{ public_position: null }]);
    await suite.database('plans').where({ name: 'Starter' }).update({ public_position: null });
    await seed(newInput());
    expect(await publicPlans()).toEqual(['Pay as you go', 'Standard', 'Business']);
  });

  test('stores neither password nor secret in the clear', async () => {
    const { input, result } = sample;
    const { account_id, application_id } = result;
    const account = await suite
      .database('accounts')
      .where({ account_id })
      .first<{ password_hash: string } | undefined>();
    expect(await verifyPassword(input.manager.password, account?.password_hash ?? '')).toBe(true);
    const stored = JSON.stringify([
      account,
      await suite.database('application_secrets').where({ application_id }),
    ]);
    expect(stored).not.toContain(input.manager.password);
    expect(stored).not.toContain(input.manager.application.client_secret);
  });

  test('gives the same ids for the same input, one after another and three at once', async () => {
    const input = newInput();
    const results = await Promise.all([seed(input), seed(input), seed(input)]);
    results.push(await seed(input));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    const account_id = results[0].account_id;
    expect(await periods(account_id)).toHaveLength(3);
  });

  test('opens a period of one month, to the second before the next would start', async () => {
    const { account_id } = sample.result;
    const [period] = await periods(account_id)
      .orderBy('started_at', 'desc')
      .select<{ started_at: Date; ended_at: Date }[]>();
    const nextStart = new Date(period?.started_at ?? 0);
    const day = nextStart.getUTCDate();
    nextStart.setUTCMonth(nextStart.getUTCMonth() + 1);
    // A 31st becomes the last day of a shorter month.
    if (nextStart.getUTCDate() !== day) nextStart.setUTCDate(0);
    expect(period?.ended_at).toEqual(new Date(nextStart.getTime() - 1_000));
  });

  test('sells a subscription, once, and another where it has ended', async () => {
    const input = newInput();
    const { account_id } = await seed(input);
    const subscriptions = () =>
      suite.database('subscriptions').where({ account_id }).orderBy('subscription_id', 'desc');
    const present = () => periods(account_id).where('ended_at', '>', secondsFromNow(-10));
    expect(await present()).toMatchObject([{ subscription_id: expect.any(Number) }]);
    await seed(input);
    expect(await subscriptions()).toMatchObject([{ billing_interval: 'month', ended_at: null }]);
    await present().update({ ended_at: secondsFromNow(-2) });
    await subscriptions().update({ ended_at: secondsFromNow(-1) });
    expect((await seed(input)).account_id).toBe(account_id);
    expect(await subscriptions()).toMatchObject([{ ended_at: null }, { ended_at: expect.any(Date) }]);
    expect(await periods(account_id)).toHaveLength(4);
  });

  test('leaves a period by hand, until it has ended', async () => {
    const input = newInput();
    const { account_id } = await seed(input);
    await suite.database.transaction(async (transaction) => {
      await transaction('billing_periods').where({ account_id }).update({ subscription_id: null });
      await transaction('subscriptions').where({ account_id }).delete();
    });
    await seed(input);
    expect(await periods(account_id)).toMatchObject(
      Array.from({ length: 3 }, () => ({ subscription_id: null })),
    );
  });

  test('sets a changed password and a changed secret', async () => {
    const input = newInput();
    await seed(input);
    const { manager } = input;
    const changed = {
      ...input,
      manager: {
        ...manager,
        password: 'another password',
        application: { ...manager.application, client_secret: 'another-client-secret' },
      },
    };
    const { account_id } = await seed(changed);
    await obtainToken(suite.auth, changed.manager.application);
    const account = await suite
      .database('accounts')
      .where({ account_id })
      .first<{ password_hash: string } | undefined>();
    expect(await verifyPassword('another password', account?.password_hash ?? '')).toBe(true);
  });

  test('shows a business: two periods and one in progress, whose usage adds up, with an alert', async () => {
    const { account_id } = sample.result;
    const used = await suite
      .database('billing_periods')
      .join('usage_totals', 'usage_totals.period_id', 'billing_periods.period_id')
      .where({ account_id })
      .orderBy('started_at')
      .select<{ period_id: number; points: number; ended_at: Date }[]>(
        'billing_periods.period_id',
        'points',
        'ended_at',
      );
    expect(used.map(({ points }) => Math.round(points / 10_000))).toEqual([58, 74, 82]);
    expect(used[2]?.ended_at.getTime()).toBeGreaterThan(Date.now());
    for (const { period_id, points } of used) {
      const sums = await suite.database('usage_hourly').where({ period_id }).sum('points as points').first();
      expect(sums).toEqual({ points: String(points) });
    }
    const alerts = await suite
      .database('usage_alerts')
      .where({ account_id })
      .select<{ period_id: number; limit_name: string; share: number; used: string }[]>();
    expect(alerts).toMatchObject([{ period_id: used[2]?.period_id, limit_name: 'points_limit', share: 80 }]);
    expect(Number(alerts[0]?.used)).toBeGreaterThanOrEqual(800_000);
  });

  test('shows operations with their documents, which add up to the usage', async () => {
    const { account_id } = sample.result;
    const sums = 'sum(points) AS points, sum(requests) AS requests';
    const operations = suite.database('usage_operations').where({ payer_id: account_id });
    const hourly = suite
      .database('usage_hourly')
      .whereIn('period_id', suite.database('billing_periods').where({ account_id }).select('period_id'));
    expect(await operations.clone().first(suite.database.raw(sums))).toEqual(
      await hourly.first(suite.database.raw(sums)),
    );
    const named = await operations
      .clone()
      .join('operation_documents', 'operation_documents.hash', 'usage_operations.hash')
      .groupBy('name')
      .orderByRaw('sum(points) DESC')
      .pluck('name');
    expect(named).toEqual(['CountriesByLanguage', 'Country', 'World']);
  });

  test('shows several applications, a used and an unused token, and refused calls', async () => {
    const { account_id, application_id } = sample.result;
    const applications = suite.database('applications').where({ account_id }).orderBy('application_id');
    expect((await applications.clone().pluck('name')).slice(1)).toEqual([
      'Mobile app',
      'Nightly reports',
      'Partner feed',
    ]);
    const used = suite.database('application_uses').where({ application_id });
    expect(await used.first('last_used_at')).toEqual({ last_used_at: expect.any(Date) });
    const tokens = await suite
      .database('access_tokens')
      .whereIn('application_id', applications.clone().clearOrder().select('application_id'))
      .orderBy('token_id')
      .pluck('last_used_at');
    expect(tokens).toEqual([expect.any(Date), null]);
    const refused = suite.database('refused_call_counts').where({ payer_id: account_id });
    expect(await refused.clone().orderBy('code').select('code', 'calls')).toEqual([
      { code: 'rate_limit_exceeded', calls: 14 },
      { code: 'upstream_error', calls: 3 },
    ]);
    expect(await suite.database('refused_calls').where({ payer_id: account_id })).toHaveLength(17);
  });

  test('that fails changes nothing', async () => {
    const input = newInput();
    const { client_id } = sample.input.manager.application;
    const clash = {
      ...input,
      member: { ...input.member, application: { ...input.member.application, client_id } },
    };
    const { code, stderr } = await run(clash);
    expect([code, stderr]).toEqual([1, expect.stringContaining('belongs to another account')]);
    expect(await suite.database('accounts').where({ email: input.manager.email })).toEqual([]);
  });

  test('takes its input from a file, too', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-seed-'));
    await writeFile(join(directory, 'input'), JSON.stringify(sample.input));
    const { code, stdout } = await runProgram('programs/seed', {
      DATABASE_URL: suite.settings['DATABASE_URL'] ?? '',
      CLIENT_SECRET_PEPPERS: clientSecretPeppers,
      TOKEN_SEALING_KEYS: tokenSealingKeys,
      SEED_INPUT_FILE: join(directory, 'input'),
    });
    await rm(directory, { recursive: true });
    expect([code, JSON.parse(stdout)]).toEqual([0, sample.result]);
  });

  test('writes its result to a file, and keeps the former one when it fails', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-seed-'));
    const file = join(directory, 'ids.json');
    const settings = {
      DATABASE_URL: suite.settings['DATABASE_URL'] ?? '',
      CLIENT_SECRET_PEPPERS: clientSecretPeppers,
      TOKEN_SEALING_KEYS: tokenSealingKeys,
      SEED_OUTPUT_PATH: file,
    };
    const { code, stdout } = await runProgram('programs/seed', settings, JSON.stringify(sample.input));
    expect([code, stdout]).toEqual([0, '']);
    const written = await readFile(file, 'utf8');
    expect(JSON.parse(written)).toEqual(sample.result);
    expect((await runProgram('programs/seed', settings, '{}')).code).toBe(1);
    expect(await readFile(file, 'utf8')).toBe(written);
    expect(await readdir(directory)).toEqual(['ids.json']);
    await rm(directory, { recursive: true });
  });

  test.each([
    ['not JSON', 'client_secret: very-secret-thing', 'not JSON'],
    ['something else', '{"manager":1}', 'expected object'],
    ['nothing', '', 'not JSON'],
  ])('refuses %s by name and repeats none of it', async (_name, input, message) => {
    const { code, stdout, stderr } = await run(input);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('very-secret-thing');
  });

  test('names every missing setting', async () => {
    const { code, stderr } = await runProgram('programs/seed', {}, '{}');
    expect(code).toBe(1);
    expect(stderr).toContain('DATABASE_URL');
    expect(stderr).toContain('CLIENT_SECRET_PEPPERS');
    expect(stderr).toContain('TOKEN_SEALING_KEYS');
  });
});
