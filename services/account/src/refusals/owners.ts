import type { RefusedCall } from '@tollgate/contracts/refused-call';
import type { Query } from '../platform/database/query.ts';

/**
 * A refused token's application belongs to its owner, who can then see why calls fail. The token proves nothing:
 * anyone who knows the application part can construct one.
 */
export async function withOwners<
  Refused extends Pick<RefusedCall, 'account_id' | 'application_id' | 'client_id'>,
>(query: Query, refused: readonly Refused[]): Promise<Refused[]> {
  const clientIds = refused.flatMap(({ account_id, client_id }) =>
    account_id === null && client_id !== null ? [client_id] : [],
  );
  if (clientIds.length === 0) return [...refused];
  const rows = await query<{ client_id: string; application_id: number; account_id: number }>(
    `SELECT client_id, application_id, account_id FROM applications
     WHERE client_id = ANY (CAST(:clientIds AS uuid[]))`,
    { clientIds },
  );
  const owners = new Map(rows.map(({ client_id, ...owner }) => [client_id, owner]));
  return refused.map((one) =>
    one.account_id === null && one.client_id !== null ? { ...one, ...owners.get(one.client_id) } : one,
  );
}
