import { IS_OPEN_DOMAIN, domainOf } from '../../identity/accounts/open-domain.ts';
import { NO_PASSWORD } from '../../identity/no-password.ts';
import { REQUIRES_SSO } from '../../identity/sessions/required-sso.ts';
import { hashOfToken, newSecretToken } from '../../identity/secret-token.ts';
import type { SignInSecrets } from '../../oidc/relying-party.ts';
import { SIGN_IN_LIFETIME_SEC, newSignInSecrets } from '../../oidc/secrets.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { SealedTable } from '../../platform/sealing/reseal.ts';
import { seal, unseal } from '../../platform/sealing/sealing.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';

export type SsoProvider = {
  provider_id: number;
  team_id: number;
  issuer: string;
  client_id: string;
  version: number;
  created_at: Date;
  changed_at: Date;
  /** Since when members sign in only by it. */
  required_at: Date | null;
  last_signed_in_at: Date | null;
  last_failed_at: Date | null;
  last_failure: string | null;
};

export type SealedProvider = SsoProvider & {
  sealing_key_id: string;
  sealed_nonce: Buffer;
  sealed_secret: Buffer;
};

type SecretOwner = Pick<SsoProvider, 'team_id' | 'issuer'>;

/** Opened for the issuer that it was given for, and for no other. */
const ownerOf = ({ team_id, issuer }: SecretOwner) => `client secret of team ${String(team_id)} at ${issuer}`;

/** For the program `reseal`. */
export const SEALED_SSO_SECRETS: SealedTable<SecretOwner> = {
  table: 'team_sso_providers',
  id: 'provider_id',
  sealed: 'sealed_secret',
  ownerColumns: ['team_id', 'issuer'],
  ownerOf,
};

export function clientSecretOf(provider: SealedProvider, keys: readonly SealingKey[]): string {
  return unseal({ ...provider, sealed: provider.sealed_secret }, ownerOf(provider), keys);
}

const COLUMNS = ['provider_id', 'team_id', 'issuer', 'client_id', 'version', 'created_at', 'changed_at']
  .concat(['required_at', 'last_signed_in_at', 'last_failed_at', 'last_failure'])
  .concat(['sealing_key_id', 'sealed_nonce', 'sealed_secret'])
  .map((column) => `provider.${column}`)
  .join(', ');

export async function findProvider(query: Query, teamId: number): Promise<SealedProvider | undefined> {
  const rows = await query<SealedProvider>(
    `SELECT ${COLUMNS} FROM team_sso_providers AS provider WHERE team_id = :teamId`,
    { teamId },
  );
  return rows[0];
}

/** Of the team that has proven the address's domain. */
export async function findProviderOf(query: Query, email: string): Promise<SealedProvider | undefined> {
  const rows = await query<SealedProvider>(
    `SELECT ${COLUMNS} FROM team_sso_providers AS provider JOIN team_domains AS domain USING (team_id)
     WHERE domain.domain = ${domainOf('CAST(:email AS text)')} AND ${IS_OPEN_DOMAIN}`,
    { email },
  );
  return rows[0];
}

/** The team is locked. Each change has a version of its own. */
export async function storeProvider(
  query: Query,
  { secret, keys, ...row }: SecretOwner & { client_id: string; secret: string; keys: readonly SealingKey[] },
): Promise<void> {
  await query(
    `INSERT INTO team_sso_providers AS stored
       (team_id, issuer, client_id, sealing_key_id, sealed_nonce, sealed_secret)
     VALUES (:team_id, :issuer, :client_id, :sealing_key_id, :sealed_nonce, :sealed)
     ON CONFLICT (team_id) DO UPDATE SET issuer = excluded.issuer, client_id = excluded.client_id,
       sealing_key_id = excluded.sealing_key_id, sealed_nonce = excluded.sealed_nonce,
       sealed_secret = excluded.sealed_secret, version = stored.version + 1, changed_at = now(),
       last_failed_at = NULL, last_failure = NULL`,
    { ...row, ...seal(secret, ownerOf(row), keys) },
  );
}

export async function deleteProvider(query: Query, teamId: number): Promise<void> {
  await query('DELETE FROM team_sso_providers WHERE team_id = :teamId', { teamId });
}

export async function setRequired(query: Query, teamId: number, isRequired: boolean): Promise<void> {
  await query(
    `UPDATE team_sso_providers SET required_at = CASE WHEN :isRequired THEN now() END WHERE team_id = :teamId`,
    { teamId, isRequired },
  );
}

export async function noteSignedIn(query: Query, providerId: number): Promise<void> {
  await query('UPDATE team_sso_providers SET last_signed_in_at = now() WHERE provider_id = :providerId', {
    providerId,
  });
}

const FAILURE_CHARACTERS = 300;

/** For the manager, who can do something about it. */
export async function noteFailure(query: Query, providerId: number, failure: string): Promise<void> {
  await query(
    `UPDATE team_sso_providers SET last_failed_at = now(), last_failure = :failure
     WHERE provider_id = :providerId`,
    { providerId, failure: failure.replaceAll(/\p{Cc}/gu, ' ').slice(0, FAILURE_CHARACTERS) },
  );
}

/** Whom it would be required of, and of which members it can't be. The manager is neither. */
export async function countCovered(
  query: Query,
  teamId: number,
): Promise<{ covered: number; uncovered: number }> {
  const rows = await query<{ covered: number; uncovered: number }>(
    `SELECT count(*) FILTER (WHERE is_covered) AS covered, count(*) FILTER (WHERE NOT is_covered) AS uncovered
     FROM (SELECT EXISTS (SELECT FROM team_domains AS domain WHERE domain.team_id = :teamId
             AND domain.domain = ${domainOf('accounts.email')} AND ${IS_OPEN_DOMAIN}) AS is_covered
           FROM team_members JOIN accounts USING (account_id)
           WHERE team_members.team_id = :teamId AND role = 'member') AS members`,
    { teamId },
  );
  return singleRow(rows);
}

type Mailed = { account_id: number; email: string };

/** Members of whom it is required now. */
export function listCovered(query: Query, teamId: number): Promise<Mailed[]> {
  return query<Mailed>(
    `SELECT accounts.account_id, email FROM team_members JOIN accounts USING (account_id)
     WHERE team_id = :teamId AND ${REQUIRES_SSO} ORDER BY accounts.account_id`,
    { teamId },
  );
}

/** Their sessions that single sign-on has not begun. */
export async function endOtherSessions(query: Query, teamId: number): Promise<void> {
  await query(
    `DELETE FROM sessions WHERE sso_identity_id IS NULL AND account_id IN (
       SELECT accounts.account_id FROM team_members JOIN accounts USING (account_id)
       WHERE team_id = :teamId AND ${REQUIRES_SSO})`,
    { teamId },
  );
}

type SsoIdentity = { identity_id: number; account_id: number };

type IdentityKey = { team_id: number; issuer: string; subject: string };

export async function findIdentity(query: Query, key: IdentityKey): Promise<SsoIdentity | undefined> {
  const rows = await query<SsoIdentity>(
    `SELECT identity_id, account_id FROM team_sso_identities
     WHERE team_id = :team_id AND issuer = :issuer AND subject = :subject`,
    key,
  );
  return rows[0];
}

/** Of two first sign-ins of one person at once, the second finds what the first has made. */
export async function lockIdentity(query: Query, { team_id, issuer, subject }: IdentityKey): Promise<void> {
  await query('SELECT pg_advisory_xact_lock(hashtextextended(:identity, 0))', {
    identity: `team identity ${String(team_id)} ${issuer} ${subject}`,
  });
}

export async function insertIdentity(
  query: Query,
  made: IdentityKey & { client_id: string; account_id: number; made_account: boolean },
): Promise<number> {
  const rows = await query<{ identity_id: number }>(
    `INSERT INTO team_sso_identities (team_id, issuer, subject, client_id, account_id, made_account)
     VALUES (:team_id, :issuer, :subject, :client_id, :account_id, :made_account) RETURNING identity_id`,
    made,
  );
  return singleRow(rows).identity_id;
}

/**
 * Whether the account was made by this team's single sign-on or directory, has no way in of its own to ask for, and is no one else's
 * at this provider: an address can pass to another person.
 */
export async function isOwnAccount(
  query: Query,
  {
    team_id,
    issuer,
    client_id,
    account_id,
  }: Omit<IdentityKey, 'subject'> & { client_id: string; account_id: number },
): Promise<boolean> {
  const rows = await query(
    `SELECT 1 FROM accounts WHERE account_id = :account_id AND password_hash = :none
       AND NOT EXISTS (SELECT FROM passkeys WHERE passkeys.account_id = accounts.account_id)
       AND (EXISTS (SELECT FROM team_sso_identities AS made WHERE made.account_id = accounts.account_id
           AND made.team_id = :team_id AND made.made_account)
         OR EXISTS (SELECT FROM scim_users AS made WHERE made.account_id = accounts.account_id
           AND made.team_id = :team_id AND made.made_account AND made.deleted_at IS NULL))
       AND NOT EXISTS (SELECT FROM team_sso_identities AS present WHERE present.account_id = accounts.account_id
         AND present.issuer = :issuer AND present.client_id = :client_id)`,
    { team_id, issuer, client_id, account_id, none: NO_PASSWORD },
  );
  return rows.length > 0;
}

type BegunSignIn = {
  /** For the browser's cookie, which alone can finish it. */
  browser: string;
  secrets: SignInSecrets;
  expires_at: Date;
};

export async function insertSignIn(
  query: Query,
  { provider_id, version }: Pick<SsoProvider, 'provider_id' | 'version'>,
  isTest: boolean,
): Promise<BegunSignIn> {
  const browser = newSecretToken();
  const secrets = newSignInSecrets();
  const rows = await query<{ expires_at: Date }>(
    `INSERT INTO team_sso_sign_ins
       (browser_hash, provider_id, version, is_test, state, nonce, code_verifier, expires_at)
     VALUES (:browserHash, :provider_id, :version, :isTest, :state, :nonce, :code_verifier,
       now() + ${String(SIGN_IN_LIFETIME_SEC)} * interval '1 second')
     RETURNING expires_at`,
    { browserHash: hashOfToken(browser), provider_id, version, isTest, ...secrets },
  );
  return { browser, secrets, ...singleRow(rows) };
}

/** Each is good for one answer, also for one that turns out wrong: `query` isn't a transaction's. */
export async function takeSignIn(
  query: Query,
  browser: string,
  teamId: number,
): Promise<{ secrets: SignInSecrets; is_test: boolean; provider: SealedProvider } | undefined> {
  type Taken = SignInSecrets & SealedProvider & { is_test: boolean };
  const rows = await query<Taken>(
    `DELETE FROM team_sso_sign_ins AS begun USING team_sso_providers AS provider
     WHERE browser_hash = :browserHash AND expires_at > now()
       AND provider.provider_id = begun.provider_id AND provider.version = begun.version
       AND provider.team_id = :teamId
     RETURNING state, nonce, code_verifier, is_test, ${COLUMNS}`,
    { browserHash: hashOfToken(browser), teamId },
  );
  const [taken] = rows;
  if (taken === undefined) return undefined;
  const { state, nonce, code_verifier, is_test, ...provider } = taken;
  return { secrets: { state, nonce, code_verifier }, is_test, provider };
}
