import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import type { SignedIn } from './require-session.ts';

/** A session whose user couldn't prove to be the owner may be a stolen one. The limits of sign-in bound the entries. */
export async function recordConfirmationFailed(
  query: Query,
  { account_id, actor }: Pick<SignedIn, 'account_id' | 'actor'>,
  details: {
    for: 'session' | 'password_change' | 'email_change' | 'account_deletion';
    with: 'password' | 'totp' | 'passkey' | 'recovery_code';
  },
): Promise<void> {
  const entry = { ...actor, application_id: null, account_id, details };
  await recordAudit(query, { ...entry, action: 'confirmation_failed' });
}
