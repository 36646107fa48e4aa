import type { Knex } from 'knex';
import { hmacSecret, matchesSecret } from '@tollgate/credentials/client-secret';
import type { Pepper, SecretHmac } from '@tollgate/credentials/client-secret';
import { singleRow } from '../../platform/database/single-row.ts';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { hashPassword, verifyPassword } from '../../identity/passwords/password.ts';
import type { TokenSettings } from '../../access/tokens/changes.ts';
import { ensurePartitions } from '../../counting/retention/partitions.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import { hoursOfHistory, seedHistory } from './seed-history.ts';
import { seedPacks } from './seed-packs.ts';
import { seedPlans } from './seed-plans.ts';
import { seedTeam } from './seed-team.ts';
import { SEED, seedSubscription } from './seed-subscription.ts';
import type { SeedInput, SeedPerson, SeedResult } from './seed-input.ts';

/** Unique among the advisory locks of this database. */
const SEED_LOCK = 7_462_002;

const TOKEN_LIFESPAN_SEC = 86_400;

type Secrets = Pick<TokenSettings, 'tokenPrefix' | 'sealingKeys'> & { peppers: readonly Pepper[] };

/**
 * Creates or finds the sample accounts in one transaction: the same input gives the same ids, also concurrently. Names,
 * passwords and secrets are set to the input; a missing subscription is created. A manager who is made gets a history.
 */
export async function seedDatabase(
  database: Knex,
  { manager, member }: SeedInput,
  { peppers, ...tokens }: Secrets,
): Promise<SeedResult> {
  const now = await databaseNow(createQuery(database));
  await ensurePartitions(database, hoursOfHistory(now));
  return createTransact(database)(async (query) => {
    await query('SELECT pg_advisory_xact_lock(:lock)', { lock: SEED_LOCK });
    const { account_id: managerId, isNew } = await seedAccount(query, manager);
    const { account_id: memberId } = await seedAccount(query, member);
    await seedTeam(query, { managerId, memberId });
    const seeded = {
      account_id: managerId,
      application_id: await seedApplication(query, managerId, manager.application, peppers),
      member: {
        account_id: memberId,
        application_id: await seedApplication(query, memberId, member.application, peppers),
      },
    };
    const plan_id = await seedPlans(query);
    await seedPacks(query);
    if (isNew) {
      const sample = {
        plan_id,
        manager: { ...seeded, client_id: manager.application.client_id },
        member: { ...seeded.member, client_id: member.application.client_id },
      };
      await seedHistory(query, sample, tokens, now, SEED);
    } else {
      await seedSubscription(query, managerId, plan_id);
    }
    return seeded;
  });
}

async function seedAccount(
  query: Query,
  { email, name, password }: SeedPerson,
): Promise<{ account_id: number; isNew: boolean }> {
  const [found] = await query<{ account_id: number; password_hash: string }>(
    'SELECT account_id, password_hash FROM accounts WHERE lower(email) = lower(:email)',
    { email },
  );
  if (found === undefined) {
    const made = await query<{ account_id: number }>(
      `INSERT INTO accounts (email, name, password_hash, email_verified_at)
       VALUES (:email, :name, :password_hash, now()) RETURNING account_id`,
      { email, name, password_hash: await hashPassword(password) },
    );
    return { account_id: singleRow(made).account_id, isNew: true };
  }
  const password_hash = (await verifyPassword(password, found.password_hash))
    ? found.password_hash
    : await hashPassword(password);
  await query(
    `UPDATE accounts SET name = :name, password_hash = :password_hash,
       email_verified_at = coalesce(email_verified_at, now())
     WHERE account_id = :account_id`,
    { name, password_hash, account_id: found.account_id },
  );
  return { account_id: found.account_id, isNew: false };
}

async function seedApplication(
  query: Query,
  account_id: number,
  { name, client_id, client_secret }: SeedPerson['application'],
  peppers: readonly Pepper[],
): Promise<number> {
  const [found] = await query<{ application_id: number; account_id: number }>(
    'SELECT application_id, account_id FROM applications WHERE client_id = :client_id',
    { client_id },
  );
  if (found !== undefined && found.account_id !== account_id) {
    throw new Error(`the client id ${client_id} belongs to another account`);
  }
  const application_id = found?.application_id ?? (await insertApplication());
  await query(
    "UPDATE applications SET name = :name, status = 'active' WHERE application_id = :application_id",
    {
      name,
      application_id,
    },
  );
  await seedSecret(query, application_id, client_secret, peppers);
  return application_id;

  async function insertApplication(): Promise<number> {
    const made = await query<{ application_id: number }>(
      `INSERT INTO applications (account_id, name, client_id, type, token_lifespan_sec)
       VALUES (:account_id, :name, :client_id, 'automatic', :lifespanSec) RETURNING application_id`,
      { account_id, name, client_id, lifespanSec: TOKEN_LIFESPAN_SEC },
    );
    return singleRow(made).application_id;
  }
}

async function seedSecret(
  query: Query,
  application_id: number,
  secret: string,
  peppers: readonly Pepper[],
): Promise<void> {
  const stored = await query<SecretHmac>(
    `SELECT pepper_id, hmac FROM application_secrets
     WHERE application_id = :application_id AND expires_at IS NULL`,
    { application_id },
  );
  if (matchesSecret(secret, stored, peppers)) return;
  await query('DELETE FROM application_secrets WHERE application_id = :application_id', { application_id });
  await query(
    `INSERT INTO application_secrets (application_id, pepper_id, hmac)
     VALUES (:application_id, :pepper_id, :hmac)`,
    { application_id, ...hmacSecret(secret, peppers) },
  );
}
