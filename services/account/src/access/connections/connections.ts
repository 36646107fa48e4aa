import type { CodeExchange, GrantAnswer, GrantEnd, Refresh } from '@tollgate/contracts/grants';
import { Problem } from '@tollgate/http/problem';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { violatedConstraint } from '../../platform/database/query.ts';
import type { ClientChangeOutbox } from '../client-changes/client-change-outbox.ts';
import { endConnection } from './end.ts';
import { exchangeCode, refused } from './exchange.ts';
import type { Outcome } from './exchange.ts';
import { refreshConnection } from './refresh.ts';
import type { ConnectionLifetimes } from './rules.ts';
import { findRefreshToken, listConnections, lockConnection, lockConnectionOfClient } from './store.ts';
import type { ListedConnection } from './store.ts';

/** What people have granted applications of type `authorization` (docs/design/authorization.md). */
export type Connections = {
  exchange: (request: CodeExchange, by: Actor) => Promise<GrantAnswer>;
  refresh: (request: Refresh, by: Actor) => Promise<GrantAnswer>;
  /** At the application's request (RFC 7009). */
  endByApplication: (request: GrantEnd, by: Actor) => Promise<void>;
  list: (accountId: number) => Promise<ListedConnection[]>;
  /** @throws {Problem} not_found */
  endByOwner: (
    key: { application_id: number; account_id: number },
    by: Actor,
  ) => Promise<{ delivered: boolean }>;
};

export function createConnections({
  transact,
  query,
  deliver,
  lifetimes,
}: { transact: Transact; query: Query; lifetimes: ConnectionLifetimes } & Pick<
  ClientChangeOutbox,
  'deliver'
>): Connections {
  /** A refusal is committed too: it may have used up a code, or ended a connection. */
  async function answered(work: (inside: Query) => Promise<Outcome>): Promise<GrantAnswer> {
    const { answer, pending } = await transact(work).catch((error: unknown) => {
      // The person's account is being deleted.
      if (violatedConstraint(error) === 'account_is_open') return refused('invalid_grant');
      throw error;
    });
    await Promise.all(pending.map(deliver));
    return answer;
  }

  return {
    exchange: (request, by) => answered((inside) => exchangeCode(inside, request, lifetimes, by)),
    refresh: (request, by) => answered((inside) => refreshConnection(inside, request, lifetimes, by)),
    endByApplication: async ({ client_id, connection_client_id, refresh_token_hash }, by) => {
      const pending = await transact(async (inside) => {
        const connection = await lockConnectionOfClient(inside, connection_client_id);
        if (connection?.acting_client_id !== client_id || connection.status !== 'active') return undefined;
        const { application_id } = connection;
        if (refresh_token_hash !== undefined) {
          const token = { application_id, token_hash: refresh_token_hash, repeatedSec: 0 };
          if ((await findRefreshToken(inside, token)) === undefined) return undefined;
        }
        return endConnection(inside, connection, 'application', by);
      });
      if (pending !== undefined) await deliver(pending);
    },
    list: (accountId) => listConnections(query, accountId),
    endByOwner: async (key, by) => {
      const pending = await transact(async (inside) => {
        const connection = await lockConnection(inside, key);
        if (connection === undefined) throw new Problem('not_found');
        return endConnection(inside, connection, 'owner', by);
      });
      return { delivered: await deliver(pending) };
    },
  };
}
