import type { ErrorCode } from '@tollgate/contracts/error-codes';
import { Problem } from '@tollgate/http/problem';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import type { BlockedNeeds } from '../../billing/entitlements/refuse-blocked.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';

/** The problems of `mayCreate`. */
export const CREATION_REFUSALS = ['account_blocked', 'team_role'] as const satisfies readonly ErrorCode[];

/** Guard of what gives someone who is signed in, or an application that acts for them, a new credential. */
export function mayCreate(needs: BlockedNeeds, by: SignedIn): Promise<void> {
  if (by.session.member_of?.member_role === 'viewer') {
    throw new Problem('team_role', { detail: 'As a viewer of your team, you can’t create credentials.' });
  }
  return unblocked(needs, by);
}
