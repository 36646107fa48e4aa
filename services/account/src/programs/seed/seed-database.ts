import type { Knex } from 'knex';
import { hmacSecret, matchesSecret } from '@tollgate/credentials/client-secret';
import type { Pepper, SecretHmac } from '@tollgate/credentials/client-secret';
import { onlyRow } from '../../platform/database/only-row.ts';
import { hashPassword, verifyPassword } from '../../identity/passwords/password.ts';
import { seedTeam } from './seed-team.ts';
import { seedSubscription } from './seed-subscription.ts';
import type { SeedInput, SeedPerson, SeedResult } from './seed-input.ts';

/** Any number that nothing else locks in this database. */
const SEED_LOCK = 7_462_002;

/** What the sample applications' tokens live for. */
const TOKEN_LIFESPAN_SEC = 86_400;

/**
 * Makes the sample accounts, or finds them again: the same input gives the same ids, however often and by
 * however many at once. What differs from the input (a name, a password, a secret) is set to it; who has
 * no subscription any more gets another. One transaction.
 */
export async function seedDatabase(
  database: Knex,
  { manager, member }: SeedInput,
  peppers: readonly Pepper[],
): Promise<SeedResult> {
  return database.transaction(async (transaction) => {
    await transaction.raw('SELECT pg_advisory_xact_lock(?)', [SEED_LOCK]);
    const managerId = await seedAccount(transaction, manager);
    const memberId = await seedAccount(transaction, member);
    await seedTeam(transaction, { managerId, memberId });
    await seedSubscription(transaction, managerId);
    return {
      account_id: managerId,
      application_id: await seedApplication(transaction, managerId, manager.application, peppers),
      member: {
        account_id: memberId,
        application_id: await seedApplication(transaction, memberId, member.application, peppers),
      },
    };
  });
}

async function seedAccount(transaction: Knex, { email, name, password }: SeedPerson): Promise<number> {
  const found = await transaction('accounts')
    .whereRaw('lower(email) = lower(?)', [email])
    .first<{ account_id: number; password_hash: string } | undefined>('account_id', 'password_hash');
  if (found === undefined) {
    const made = await transaction('accounts')
      .insert({
        email,
        name,
        password_hash: await hashPassword(password),
        email_verified_at: transaction.fn.now(),
      })
      .returning<{ account_id: number }[]>('account_id');
    return onlyRow(made).account_id;
  }
  const password_hash = (await verifyPassword(password, found.password_hash))
    ? found.password_hash
    : await hashPassword(password);
  await transaction('accounts')
    .where({ account_id: found.account_id })
    .update({
      name,
      password_hash,
      email_verified_at: transaction.raw('coalesce(email_verified_at, now())'),
    });
  return found.account_id;
}

async function seedApplication(
  transaction: Knex,
  account_id: number,
  { name, client_id, client_secret }: SeedPerson['application'],
  peppers: readonly Pepper[],
): Promise<number> {
  const found = await transaction('applications')
    .where({ client_id })
    .first<{ application_id: number; account_id: number } | undefined>('application_id', 'account_id');
  if (found !== undefined && found.account_id !== account_id) {
    throw new Error(`the client id ${client_id} belongs to another account`);
  }
  const application_id = found?.application_id ?? (await insertApplication());
  await transaction('applications').where({ application_id }).update({ name, status: 'active' });
  await seedSecret(transaction, application_id, client_secret, peppers);
  return application_id;

  async function insertApplication(): Promise<number> {
    const made = await transaction('applications')
      .insert({ account_id, name, client_id, type: 'automatic', token_lifespan_sec: TOKEN_LIFESPAN_SEC })
      .returning<{ application_id: number }[]>('application_id');
    return onlyRow(made).application_id;
  }
}

async function seedSecret(
  transaction: Knex,
  application_id: number,
  secret: string,
  peppers: readonly Pepper[],
): Promise<void> {
  const stored = await transaction('application_secrets')
    .where({ application_id, expires_at: null })
    .select<SecretHmac[]>('pepper_id', 'hmac');
  if (matchesSecret(secret, stored, peppers)) return;
  await transaction('application_secrets').where({ application_id }).delete();
  await transaction('application_secrets').insert({ application_id, ...hmacSecret(secret, peppers) });
}
