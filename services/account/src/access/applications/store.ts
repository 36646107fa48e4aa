import type { SecretHmac } from '@tollgate/credentials/client-secret';
import { Problem } from '@tollgate/http/problem';
import { APPLICATION_BUDGET } from '../../billing/budgets/store.ts';
import { violatedConstraint } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import { HIDDEN_TYPES } from '../../platform/database/hidden-types.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';
import type {
  Application,
  ApplicationFilter,
  ApplicationKey,
  LiveSecret,
  OwnedApplication,
} from './application.ts';
import type { SecretEnd, ApplicationState } from './rules.ts';

/** Deleted applications, and the hidden ones of temporary tokens and of connections, are never found. */

const COLUMNS = `application_id, account_id, name, type, token_lifespan_sec, client_id, status,
  revocation_epoch, created_at, public_client, redirect_uris, verified_at,
  (SELECT last_used_at FROM application_uses
   WHERE application_uses.application_id = applications.application_id) AS last_used_at,
  ${APPLICATION_BUDGET} AS budget`;

const IS_LISTED = `status <> 'deleted' AND type NOT IN ${HIDDEN_TYPES}`;

const IS_MEANT = `application_id = :application_id
  AND (CAST(:owner_id AS bigint) IS NULL OR account_id = :owner_id)
  AND ${IS_LISTED}`;

export async function findApplication(query: Query, key: ApplicationKey): Promise<Application | undefined> {
  const rows = await query<Application>(`SELECT ${COLUMNS} FROM applications WHERE ${IS_MEANT}`, key);
  return rows[0];
}

/** Serializes changes of an application. */
export async function lockApplication(query: Query, key: ApplicationKey): Promise<Application | undefined> {
  const rows = await query<Application>(
    `SELECT ${COLUMNS} FROM applications WHERE ${IS_MEANT} FOR UPDATE`,
    key,
  );
  return rows[0];
}

export async function lockApplicationOfClient(
  query: Query,
  clientId: string,
): Promise<Application | undefined> {
  const rows = await query<Application>(
    `SELECT ${COLUMNS} FROM applications
     WHERE client_id = :clientId AND status <> 'deleted' AND type <> 'temporary'
     FOR UPDATE`,
    { clientId },
  );
  return rows[0];
}

/** In the order of their ids, hidden ones included. */
export function lockActiveApplications(query: Query, accountId: number): Promise<Application[]> {
  return query<Application>(
    `SELECT ${COLUMNS} FROM applications WHERE account_id = :accountId AND status = 'active'
     ORDER BY application_id FOR UPDATE`,
    { accountId },
  );
}

/**
 * For changes that make an application active: a trigger refuses them in an account that is being deleted.
 * @throws {Problem} account_deletion_pending
 */
export async function inOpenAccount<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (violatedConstraint(error) !== 'account_is_open') throw error;
    throw new Problem('account_deletion_pending', { cause: error });
  }
}

/** Whose a client ID is, for operators; also of what is deleted or hidden. */
export async function findOwnerOfClient(
  query: Query,
  clientId: string,
): Promise<Pick<Application, 'account_id' | 'name' | 'client_id'> | undefined> {
  const rows = await query<Pick<Application, 'account_id' | 'name' | 'client_id'>>(
    'SELECT account_id, name, client_id FROM applications WHERE client_id = :clientId',
    { clientId },
  );
  return rows[0];
}

/** Newest first. */
export function listApplications(
  query: Query,
  accountId: number | null,
  wanted: Page & ApplicationFilter,
): Promise<Application[]> {
  return query<Application>(
    `SELECT ${COLUMNS} FROM applications
     WHERE ${IS_LISTED}
       AND (CAST(:accountId AS bigint) IS NULL OR account_id = :accountId)
       AND (CAST(:status AS text) IS NULL OR status = :status)
       AND (CAST(:type AS text) IS NULL OR type = :type)
       AND (CAST(:search AS text) IS NULL
         OR strpos(lower(name), lower(:search)) > 0 OR strpos(CAST(client_id AS text), lower(:search)) > 0)
       AND application_id < :before
     ORDER BY application_id DESC LIMIT :limit`,
    { ...wanted, accountId },
  );
}

/** Undefined for an unknown account. The lock makes concurrent creations count each other's applications. */
export async function countUnderLock(query: Query, accountId: number): Promise<number | undefined> {
  const accounts = await query('SELECT 1 FROM accounts WHERE account_id = :accountId FOR NO KEY UPDATE', {
    accountId,
  });
  if (accounts.length === 0) return undefined;
  const rows = await query<{ count: number }>(
    `SELECT count(*) AS count FROM applications
     WHERE account_id = :accountId AND ${IS_LISTED}`,
    { accountId },
  );
  return singleRow(rows).count;
}

/** The account can't be deleted until the transaction ends. */
export async function accountExists(query: Query, accountId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM accounts WHERE account_id = :accountId FOR KEY SHARE', {
    accountId,
  });
  return rows.length > 0;
}

type NewApplication = Pick<
  OwnedApplication,
  'account_id' | 'name' | 'type' | 'token_lifespan_sec' | 'client_id'
> &
  Partial<Pick<Application, 'public_client' | 'redirect_uris'>>;

export async function insertApplication(
  query: Query,
  { public_client = false, redirect_uris = [], ...made }: NewApplication,
): Promise<OwnedApplication> {
  const rows = await query<OwnedApplication>(
    `INSERT INTO applications (account_id, name, type, token_lifespan_sec, client_id, public_client, redirect_uris)
     VALUES (:account_id, :name, :type, :token_lifespan_sec, :client_id, :public_client,
       CAST(:redirect_uris AS text[])) RETURNING ${COLUMNS}`,
    { ...made, public_client, redirect_uris },
  );
  return singleRow(rows);
}

/** Whether it is verified still: a trigger decides. */
export async function setSettings(
  query: Query,
  { application_id, name, token_lifespan_sec, redirect_uris }: Application,
): Promise<Pick<Application, 'verified_at'>> {
  const rows = await query<Pick<Application, 'verified_at'>>(
    `UPDATE applications SET name = :name, token_lifespan_sec = :token_lifespan_sec,
       redirect_uris = CAST(:redirect_uris AS text[])
     WHERE application_id = :application_id RETURNING verified_at`,
    { application_id, name, token_lifespan_sec, redirect_uris },
  );
  return singleRow(rows);
}

/** The name of the application's account, which keeps it until the transaction ends; null without an account. */
export async function lockDeveloper(query: Query, applicationId: number): Promise<string | null> {
  const rows = await query<{ name: string }>(
    `SELECT name FROM accounts
     WHERE account_id = (SELECT account_id FROM applications WHERE application_id = :applicationId) FOR SHARE`,
    { applicationId },
  );
  return rows[0]?.name ?? null;
}

/** Triggers end it with the next change of what was verified. */
export async function setVerified(
  query: Query,
  applicationId: number,
  isVerified: boolean,
): Promise<Date | null> {
  const rows = await query<{ verified_at: Date | null }>(
    `UPDATE applications SET verified_at = CASE WHEN :isVerified THEN now() END
     WHERE application_id = :applicationId RETURNING verified_at`,
    { applicationId, isVerified },
  );
  return singleRow(rows).verified_at;
}

export async function setApplicationState(
  query: Query,
  applicationId: number,
  { status, revocation_epoch }: ApplicationState,
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
