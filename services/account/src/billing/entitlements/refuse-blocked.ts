import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../periods/payer-periods.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import type { Query } from '../../platform/database/query.ts';

/**
 * Blocked accounts, and members of a blocked payer, cannot create credentials. A block that comes just afterwards is
 * enforced on every call.
 */
export type BlockedNeeds = {
  /** @throws {Problem} account_blocked */
  refuseBlocked: (accountId: number) => Promise<void>;
};

export function createRefuseBlocked(query: Query): BlockedNeeds['refuseBlocked'] {
  return async (accountId) => {
    const payerPeriods = await findPayerPeriods(query, accountId, new Date());
    if (payerPeriods?.account_blocked !== false) throw new Problem('account_blocked');
  };
}

/** Guard of operations for someone who is signed in: neither they nor the account that they act for is blocked. */
export async function unblocked({ refuseBlocked }: BlockedNeeds, by: SignedIn): Promise<void> {
  if (by.session.account.blocked_at !== null) throw new Problem('account_blocked');
  await refuseBlocked(by.account_id);
}
