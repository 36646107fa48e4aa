import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../periods/payer-periods.ts';
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

/** Guard of operations for a signed-in account. */
export function unblocked({ refuseBlocked }: BlockedNeeds, by: { account_id: number }): Promise<void> {
  return refuseBlocked(by.account_id);
}
