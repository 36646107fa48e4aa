import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { hmacSecret, newClientSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import { waitFor } from '@tollgate/stack/wait-for';
import { clientSecretPeppers } from '@tollgate/testbed/service-process';
import { singleRow } from '../../../src/platform/database/single-row.ts';

const DAY_MS = 86_400_000;

export async function insertAccount(
  database: Knex,
  changes: { email?: string; blocked_at?: Date } = {},
): Promise<number> {
  const rows = await database('accounts')
    .insert({ email: `${randomUUID()}@example.com`, name: 'Someone', password_hash: 'none', ...changes })
    .returning<{ account_id: number }[]>('account_id');
  return singleRow(rows).account_id;
}

/** The first account manages the team. */
export async function insertTeam(database: Knex, managerId: number, ...memberIds: number[]): Promise<void> {
  const rows = await database('teams').insert({ name: 'Team' }).returning<{ team_id: number }[]>('team_id');
  const { team_id } = singleRow(rows);
  await database('team_members').insert([
    { account_id: managerId, team_id, role: 'manager' },
    ...memberIds.map((account_id) => ({ account_id, team_id, role: 'member' })),
  ]);
}

export type PeriodChanges = {
  started_at?: Date;
  ended_at?: Date;
  grace_sec?: number;
  blocked_at?: Date;
  description?: Record<string, unknown>;
  team_slots_limit?: number;
  product_id?: number;
  plan_name?: string;
};

/** By default ten days around now, of a plan of its own. */
export async function insertPeriod(
  database: Knex,
  accountId: number,
  changes: PeriodChanges = {},
): Promise<number> {
  const { description = { points_limit: 1_000 }, grace_sec = 259_200, plan_name = 'Plan' } = changes;
  const plans = await database('plans')
    .insert({ name: randomUUID(), description, grace_sec })
    .returning<{ plan_id: number }[]>('plan_id');
  const periods = await database('billing_periods')
    .insert({
      account_id: accountId,
      plan_id: singleRow(plans).plan_id,
      started_at: secondsFromNow((-5 * DAY_MS) / 1_000),
      ended_at: secondsFromNow((5 * DAY_MS) / 1_000),
      ...changes,
      description,
      grace_sec,
      plan_name,
    })
    .returning<{ period_id: number }[]>('period_id');
  return singleRow(periods).period_id;
}

export type TestApplication = { application_id: number; client_id: string; client_secret: string };

/** With one secret that doesn't expire. */
export async function insertApplication(
  database: Knex,
  accountId: number,
  changes: { status?: string; token_lifespan_sec?: number; revocation_epoch?: number } = {},
): Promise<TestApplication> {
  const client_id = randomUUID();
  const rows = await database('applications')
    .insert({
      account_id: accountId,
      name: 'App',
      type: 'automatic',
      token_lifespan_sec: 3_600,
      client_id,
      ...changes,
    })
    .returning<{ application_id: number }[]>('application_id');
  const { application_id } = singleRow(rows);
  return { application_id, client_id, client_secret: await insertSecret(database, application_id, null) };
}

export async function insertSecret(
  database: Knex,
  applicationId: number,
  expiresAt: Date | null,
): Promise<string> {
  const client_secret = newClientSecret();
  await database('application_secrets').insert({
    application_id: applicationId,
    ...hmacSecret(client_secret, pepperSetting.parse(clientSecretPeppers)),
    expires_at: expiresAt,
  });
  return client_secret;
}

/** In whole seconds. */
export function secondsFromNow(seconds: number): Date {
  return new Date((Math.floor(Date.now() / 1_000) + Math.round(seconds)) * 1_000);
}

/** Until a period can end: it begins with a whole second, and lasts one at least. */
export async function hasLastedASecond(database: Knex, period_id: number): Promise<void> {
  await waitFor(async () => {
    const [startedAt] = await database('billing_periods').where({ period_id }).pluck<Date[]>('started_at');
    return startedAt !== undefined && startedAt.getTime() + 1_000 < Date.now();
  });
}
