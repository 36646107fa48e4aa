import { Problem } from '@tollgate/http/problem';
import type { Query } from '../../platform/database/query.ts';
import { IS_OPEN_DOMAIN, domainOf } from '../accounts/open-domain.ts';

/**
 * Whether an account's team lets it in only by single sign-on: a column of the statement around it, which has
 * `accounts`. Never its manager, who would be locked out with everyone else while the identity provider is down.
 */
export const REQUIRES_SSO = `EXISTS (
  SELECT FROM team_members AS covered
  JOIN team_sso_providers AS provider USING (team_id)
  JOIN team_domains AS domain USING (team_id)
  WHERE covered.account_id = accounts.account_id AND covered.role = 'member'
    AND provider.required_at IS NOT NULL
    AND domain.domain = ${domainOf('accounts.email')} AND ${IS_OPEN_DOMAIN})`;

/**
 * An address outside of the team's domains would be a way past single sign-on.
 * @throws {Problem} sso_required
 */
export async function refuseIfSsoRequired(query: Query, accountId: number): Promise<void> {
  const rows = await query(`SELECT 1 FROM accounts WHERE account_id = :accountId AND ${REQUIRES_SSO}`, {
    accountId,
  });
  if (rows.length === 0) return;
  throw new Problem('sso_required', {
    detail: 'Your team requires single sign-on, so your email address is the one that it knows.',
  });
}

/** Who is let in without single sign-on must not be so with a password alone. @throws {Problem} sso_needs_second_factor */
export async function refuseIfLastFactorIsNeeded(query: Query, accountId: number): Promise<void> {
  const rows = await query(
    `SELECT 1 FROM team_members JOIN team_sso_providers USING (team_id)
     WHERE account_id = :accountId AND role = 'manager' AND required_at IS NOT NULL`,
    { accountId },
  );
  if (rows.length === 0) return;
  throw new Problem('sso_needs_second_factor', {
    detail: 'Your team requires single sign-on. Its manager keeps a second factor, for when that fails.',
  });
}
