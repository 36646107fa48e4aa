import { Problem } from '@tollgate/http/problem';
import {
  accountExists,
  findApplication,
  inOpenAccount,
  lockApplicationOfClient,
} from '../applications/store.ts';
import { isOwned } from '../applications/application.ts';
import type { ApplicationKey } from '../applications/application.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { ClientChangeOutbox } from '../client-changes/client-change-outbox.ts';
import { copyToken, issueToken, revokeOf, revokeToken } from './changes.ts';
import type { TokenKey, TokenSettings } from './changes.ts';
import { insertRevoked } from './auth/revoked.ts';
import { tokenStatus } from './rules.ts';
import type { TokenStatus } from './rules.ts';
import { findToken, listOfAccount, listOfApplication } from './store.ts';
import type { ListedRow, TokenFilter, TokenRow } from './store.ts';
import {
  endTemporaryToken,
  makeTemporaryToken,
  requireAccount,
  revokeTemporaryToken,
  temporaryTokenEnd,
} from './temporary.ts';
import type { TemporaryToken } from './temporary.ts';

/** Whether auth has acknowledged it or, of a revocation, every cache was told. Retried until then. */
type Delivered = { delivered: boolean };

export type Token = Omit<TokenRow, 'revocation_epoch'> & { status: TokenStatus };

type AccountToken = Token & { application_name: string };

/** Each change is one transaction. @throws {Problem} not_found */
export type Tokens = {
  /** @throws {Problem} application_revoked, token_limit_reached */
  issue: (
    wanted: ApplicationKey & { name: string },
    by: Actor,
  ) => Promise<{ token: Token; access_token: string } & Delivered>;
  /** @throws {Problem} token_not_active */
  copy: (id: TokenKey, by: Actor) => Promise<{ token: Token; access_token: string }>;
  revoke: (id: TokenKey, by: Actor) => Promise<{ token: Token } & Delivered>;
  /** RFC 7009: a client revokes its own token, issued (`expiresAt` if auth knows it) or manual. */
  revokeOfClient: (
    clientId: string,
    given: { token_hash: string; expiresAt: Date | null },
    by: Actor,
  ) => Promise<void>;
  /** Newest first. */
  ofApplication: (key: ApplicationKey, wanted: Omit<TokenFilter, 'application_id'>) => Promise<Token[]>;
  ofAccount: (accountId: number, wanted: TokenFilter) => Promise<AccountToken[]>;
  /** Creates one if none is live. @throws {Problem} account_blocked */
  temporary: (accountId: number, by: Actor) => Promise<TemporaryToken>;
  /** Of the live one; null if there is none. */
  temporaryEnd: (accountId: number) => Promise<Date | null>;
  revokeTemporary: (accountId: number, by: Actor) => Promise<Delivered>;
  /** Within the transaction that ends sessions; tells auth and the gateways when called after its commit. */
  endTemporary: (inside: Query, accountId: number, by: Actor) => Promise<(() => Promise<boolean>) | null>;
};

export function createTokens(
  options: TokenSettings & {
    transact: Transact;
    query: Query;
  } & Pick<ClientChangeOutbox, 'deliver'>,
): Tokens {
  const { transact, query, deliver, ...settings } = options;
  return {
    issue: async (wanted, by) => {
      const issued = await transact((inside) => issueToken(inside, wanted, settings, by));
      const token: Token = { ...issued.token, status: 'Active' };
      return { token, access_token: issued.access_token, delivered: await deliver(issued.pending) };
    },
    copy: async (id, by) => {
      const copied = await transact((inside) => copyToken(inside, id, settings.sealingKeys, by));
      return { token: { ...copied.token, status: 'Active' }, access_token: copied.access_token };
    },
    revoke: async (id, by) => {
      const { token, pending } = await transact((inside) => revokeToken(inside, id, by));
      return { token: { ...token, status: 'Revoked' }, delivered: await deliver(pending) };
    },
    revokeOfClient: async (clientId, { token_hash, expiresAt }, by) => {
      const pending = await transact(async (inside) => {
        const owner = await lockApplicationOfClient(inside, clientId);
        if (!isOwned(owner)) return undefined;
        const { application_id } = owner;
        const token = await findToken(inside, application_id, { token_hash });
        if (token !== undefined) return (await revokeOf(inside, owner, token, by)).pending;
        await insertRevoked(inside, { application_id, token_hash }, expiresAt);
        return undefined;
      });
      // auth's request is the notification, so the response needn't wait for the outbox.
      if (pending !== undefined) void deliver(pending);
    },
    ofApplication: async (key, wanted) => {
      if ((await findApplication(query, key)) === undefined) throw new Problem('not_found');
      const now = new Date();
      const everyOne = { ...wanted, application_id: null, now };
      return listed(await listOfApplication(query, key.application_id, everyOne), now);
    },
    ofAccount: async (accountId, wanted) => {
      if (!(await accountExists(query, accountId))) throw new Problem('not_found');
      const now = new Date();
      return listed(await listOfAccount(query, accountId, { ...wanted, now }), now);
    },
    temporary: async (accountId, by) => {
      await requireAccount(query, accountId);
      const made = await inOpenAccount(
        transact((inside) => makeTemporaryToken(inside, accountId, settings, by)),
      );
      if (made.pending !== null) await deliver(made.pending);
      return { access_token: made.access_token, expires_at: made.expires_at };
    },
    temporaryEnd: async (accountId) => {
      if (!(await accountExists(query, accountId))) throw new Problem('not_found');
      return (await temporaryTokenEnd(query, accountId)) ?? null;
    },
    revokeTemporary: async (accountId, by) => {
      if (!(await accountExists(query, accountId))) throw new Problem('not_found');
      const pending = await transact((inside) => revokeTemporaryToken(inside, accountId, by));
      return { delivered: pending === null || (await deliver(pending)) };
    },
    endTemporary: async (inside, accountId, by) => {
      const change = await endTemporaryToken(inside, accountId, by);
      return change === null ? null : () => deliver(change);
    },
  };
}

function listed(rows: readonly ListedRow[], now: Date): AccountToken[] {
  return rows.map(({ application_status, application_epoch, ...token }) => {
    const application = { status: application_status, revocation_epoch: application_epoch };
    return { ...token, status: tokenStatus(token, application, now) };
  });
}
