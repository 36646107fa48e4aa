import { Problem } from '@tollgate/http/problem';
import type { Query } from '../platform/database/query.ts';
import { singleRow } from '../platform/database/single-row.ts';
import type { PaymentProvider } from './provider.ts';

/** Rows that are paid on a page of the provider, and the column of their ids. */
type PagedRows =
  { table: 'purchases'; id: 'purchase_id' } | { table: 'stripe_subscriptions'; id: 'checkout_id' };

/** New pages of an account; one that is open for the same isn't new. */
const MAX_PER_HOUR = 10;

type OpenPage = { id: number; session_id: string };

/** What purchases and subscriptions do alike with their payment pages. */
export type Pages = {
  /** @throws {Problem} too_many_requests if the account has begun too many in the last hour */
  refuseTooMany: (query: Query, accountId: number) => Promise<void>;
  setPage: (query: Query, id: number, page: { session_id: string; url: string | null }) => Promise<void>;
  /** Closes the account's other pages that can still be paid; `expire` is told of those that are closed. */
  closeOthers: (
    needs: { query: Query; provider: Pick<PaymentProvider, 'expireCheckout'> },
    kept: { accountId: number; id: number },
    expire: (id: number) => Promise<unknown>,
  ) => Promise<void>;
};

export function pagesOf({ table, id: column }: PagedRows): Pages {
  return {
    refuseTooMany: async (query, accountId) => {
      const rows = await query<{ count: number }>(
        `SELECT count(*)::int AS count FROM ${table}
         WHERE account_id = :accountId AND created_at > now() - interval '1 hour'`,
        { accountId },
      );
      if (singleRow(rows).count < MAX_PER_HOUR) return;
      throw new Problem('too_many_requests', { headers: { 'retry-after': '3600' } });
    },
    setPage: async (query, id, page) => {
      await query(
        `UPDATE ${table} SET session_id = :session_id, session_url = :url
         WHERE ${column} = :id AND (session_id IS NULL OR session_id = :session_id)`,
        { id, ...page },
      );
    },
    closeOthers: async ({ query, provider }, { accountId, id }, expire) => {
      const others = await query<OpenPage>(
        `SELECT ${column} AS id, session_id FROM ${table}
         WHERE account_id = :accountId AND ${column} <> :id AND state = 'open' AND session_id IS NOT NULL
         LIMIT 20`,
        { accountId, id },
      );
      await Promise.allSettled(
        others.map(async (other) => {
          if (await provider.expireCheckout(other.session_id)) await expire(other.id);
        }),
      );
    },
  };
}
