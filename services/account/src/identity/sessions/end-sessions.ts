import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { endPendingSignIns } from './pending-sign-ins.ts';
import { deleteSession, deleteSessions } from './session-store.ts';

/**
 * Sessions end together with the account's temporary token, which can be copied with a session
 * (docs/design/identity.md). `inside` is a transaction's that holds the account's lock. What is returned is to be
 * called after its commit.
 */

/** Tells auth and the gateways of a change, once its transaction is committed. */
export type AfterCommit = () => Promise<unknown>;

/** Of access. */
export type SessionTokens = {
  tokens: {
    /** Null if none is live. */
    endTemporary: (inside: Query, accountId: number, by: Actor) => Promise<AfterCommit | null>;
  };
};

type Ended = { account_id: number; actor: Actor };

/** Also sign-ins that are not complete yet, whose password was right before a change of it. */
export async function endSessions(
  { tokens }: SessionTokens,
  inside: Query,
  { account_id, actor, except = null }: Ended & { except?: number | null },
): Promise<AfterCommit[]> {
  await deleteSessions(inside, account_id, except);
  await endPendingSignIns(inside, account_id);
  return listed(await tokens.endTemporary(inside, account_id, actor));
}

/**
 * Ends one session of an account, in a transaction of its own.
 * @throws {Problem} not_found if the account has no such session
 */
export async function endSession(
  { tokens, transact }: SessionTokens & { transact: Transact },
  { account_id, actor, session_id }: Ended & { session_id: number },
): Promise<void> {
  const ended = await transact(async (inside) => {
    await lockAccount(inside, account_id);
    const session = await deleteSession(inside, account_id, session_id);
    if (session === undefined) throw new Problem('not_found');
    const told = listed(await tokens.endTemporary(inside, account_id, actor));
    const change = changeOf(['session_id', 'created_at', 'user_agent'], session, null);
    const entry = { ...actor, application_id: null, account_id, details: { session_id }, change };
    await recordAudit(inside, { ...entry, action: 'session_ended' });
    return told;
  });
  await Promise.all(ended.map((tell) => tell()));
}

function listed(told: AfterCommit | null): AfterCommit[] {
  return told === null ? [] : [told];
}
