import { domainOf } from '../identity/accounts/open-domain.ts';
import { NO_PASSWORD } from '../identity/no-password.ts';
import { enqueueMail } from '../mail/mail-outbox.ts';
import type { Query } from '../platform/database/query.ts';

/** With a link to set a password. */
export type PasswordLinkMail = { kind: 'team_sso_password'; recipient: string; account_id: number };

/**
 * What a team's single sign-on has begun ends, as it no longer speaks for the people of a domain, or for any (null).
 * Those who have no other way in get one by mail. `query` is a transaction's.
 */
export async function endSso(query: Query, teamId: number, domain: string | null): Promise<void> {
  const ofThem = `team_sso_identities.team_id = :teamId AND account_id IN (
    SELECT account_id FROM accounts
    WHERE CAST(:domain AS text) IS NULL OR ${domainOf('accounts.email')} = :domain)`;
  await query(
    `DELETE FROM sessions WHERE sso_identity_id IN (SELECT identity_id FROM team_sso_identities WHERE ${ofThem})`,
    { teamId, domain },
  );
  const people = await query<{ account_id: number; email: string }>(
    `SELECT account_id, email FROM accounts
     WHERE password_hash = :none
       AND NOT EXISTS (SELECT FROM passkeys WHERE passkeys.account_id = accounts.account_id)
       AND account_id IN (SELECT account_id FROM team_sso_identities WHERE ${ofThem})
     ORDER BY account_id`,
    { teamId, domain, none: NO_PASSWORD },
  );
  for (const { account_id, email } of people) {
    const mail: PasswordLinkMail = { kind: 'team_sso_password', recipient: email, account_id };
    await enqueueMail(query, mail);
  }
}

/** Whether the team wants single sign-on of its members. */
export async function isSsoRequired(query: Query, teamId: number): Promise<boolean> {
  const rows = await query(
    'SELECT 1 FROM team_sso_providers WHERE team_id = :teamId AND required_at IS NOT NULL',
    { teamId },
  );
  return rows.length > 0;
}
