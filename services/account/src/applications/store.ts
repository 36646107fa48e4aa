import type { SecretHmac } from '@tollgate/client-secret';
import { onlyRow } from '../database/only-row.ts';
import type { Query } from '../database/query.ts';
import type { Application, LiveSecret } from './application.ts';
import type { SecretEnd, Standing } from './rules.ts';

/** Applications and their secrets in Postgres. A deleted one can't be found any more. */

const COLUMNS = `application_id, account_id, name, type, token_lifespan_sec, client_id, status,
  revocation_epoch, created_at`;

export async function findApplication(query: Query, applicationId: number): Promise<Application | undefined> {
  const rows = await query<Application>(
    `SELECT ${COLUMNS} FROM applications WHERE application_id = :applicationId AND status <> 'deleted'`,
    { applicationId },
  );
  return rows[0];
}

/** The same, locked until the transaction's end: changes of one application come one after the other. */
export async function lockApplication(query: Query, applicationId: number): Promise<Application | undefined> {
  const rows = await query<Application>(
    `SELECT ${COLUMNS} FROM applications WHERE application_id = :applicationId AND status <> 'deleted'
     FOR UPDATE`,
    { applicationId },
  );
  return rows[0];
}

/** Whether there is such an account; it stays until the transaction's end. */
export async function accountExists(query: Query, accountId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM accounts WHERE account_id = :accountId FOR KEY SHARE', {
    accountId,
  });
  return rows.length > 0;
}

export async function insertApplication(
  query: Query,
  made: Pick<Application, 'account_id' | 'name' | 'type' | 'token_lifespan_sec' | 'client_id'>,
): Promise<Application> {
  const rows = await query<Application>(
    `INSERT INTO applications (account_id, name, type, token_lifespan_sec, client_id)
     VALUES (:account_id, :name, :type, :token_lifespan_sec, :client_id) RETURNING ${COLUMNS}`,
    made,
  );
  return onlyRow(rows);
}

export async function setStanding(
  query: Query,
  applicationId: number,
  { status, revocation_epoch }: Standing,
): Promise<void> {
  await query(
    `UPDATE applications SET status = :status, revocation_epoch = :revocation_epoch
     WHERE application_id = :applicationId`,
    { status, revocation_epoch, applicationId },
  );
}

/** Newest first. */
export function liveSecrets(query: Query, applicationId: number, now: Date): Promise<LiveSecret[]> {
  return query<LiveSecret>(
    `SELECT secret_id, created_at, expires_at FROM application_secrets
     WHERE application_id = :applicationId AND (expires_at IS NULL OR expires_at > :now)
     ORDER BY secret_id DESC`,
    { applicationId, now },
  );
}

export async function insertSecret(query: Query, applicationId: number, secret: SecretHmac): Promise<void> {
  await query(
    `INSERT INTO application_secrets (application_id, pepper_id, hmac)
     VALUES (:applicationId, :pepper_id, :hmac)`,
    { ...secret, applicationId },
  );
}

export async function endSecrets(query: Query, ends: readonly SecretEnd[]): Promise<void> {
  for (const end of ends) {
    await query('UPDATE application_secrets SET expires_at = :expires_at WHERE secret_id = :secret_id', end);
  }
}
