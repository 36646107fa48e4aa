import type { Query } from '../../platform/database/query.ts';
import { checkLedger } from './check.ts';
import type { Difference } from './check.ts';
import { readLedger } from './store.ts';

export type AccountDifference = Difference & { account_id: number };

/** The first difference of each account that has one. `snapshot` is of one moment. */
export async function findDifferences(
  snapshot: Query,
  accountIds: readonly number[],
): Promise<AccountDifference[]> {
  const differences: AccountDifference[] = [];
  for (const account_id of accountIds) {
    const difference = checkLedger(await readLedger(snapshot, account_id));
    if (difference !== null) differences.push({ account_id, ...difference });
  }
  return differences;
}
