import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import type { RevocationOutbox } from '../../platform/outbox/revocations/revocation-outbox.ts';
import type { NewClientChange } from '../../platform/outbox/revocations/store.ts';
import { endPendingSignIns } from '../two-factor/sign-in/pending-sign-ins.ts';
import { deleteSession, deleteSessions } from './session-store.ts';

/**
 * Sessions end together with the account's temporary token, which can be copied with a session (ADR 0088). `inside` is
 * a transaction's that holds the account's lock. The returned changes are to be delivered after its commit.
 */

export type SessionEndParts = Pick<RevocationOutbox, 'deliver'> & {
  tokens: {
    /** Null if none is live. */
    endTemporary: (inside: Query, accountId: number, by: Actor) => Promise<NewClientChange | null>;
  };
};

type Ended = { account_id: number; actor: Actor };

/** Also sign-ins that are not complete yet, whose password was right before a change of it. */
export async function endSessions(
  { tokens }: Pick<SessionEndParts, 'tokens'>,
  inside: Query,
  { account_id, actor, except = null }: Ended & { except?: number | null },
): Promise<NewClientChange[]> {
  await deleteSessions(inside, account_id, except);
  await endPendingSignIns(inside, account_id);
  return listed(await tokens.endTemporary(inside, account_id, actor));
}

/** Undefined if the account has no such session. */
export async function endOneSession(
  { tokens }: Pick<SessionEndParts, 'tokens'>,
  inside: Query,
  { account_id, actor, session_id }: Ended & { session_id: number },
): Promise<NewClientChange[] | undefined> {
  if (!(await deleteSession(inside, account_id, session_id))) return undefined;
  return listed(await tokens.endTemporary(inside, account_id, actor));
}

function listed(change: NewClientChange | null): NewClientChange[] {
  return change === null ? [] : [change];
}
