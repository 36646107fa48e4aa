import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, ipAddress } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { operator, seesAddresses } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount, requireAccount } from '../accounts/account-store.ts';
import { ofAccount } from '../accounts/operations.ts';
import { endSession, endSessions } from './end-sessions.ts';
import type { SessionTokens } from './end-sessions.ts';
import { listSessions } from './session-store.ts';
import type { ListedSession, SessionLifetimes } from './session-store.ts';

type ReadNeeds = { query: Query; lifetimes: SessionLifetimes };

type EndNeeds = SessionTokens & { transact: Transact; lifetimes: SessionLifetimes };

const sessionSchema = z
  .object({
    session_id: id,
    created_at: instant,
    last_seen_at: instant,
    expires_at: instant,
    address: ipAddress,
    user_agent: z.string(),
  })
  .meta({ id: 'AccountSession' });

export const operatorSessionsOfAccounts = {
  title: 'Sessions of accounts',
  description: 'Where owners are signed in.',
  operations: [
    operation('GET /private/accounts/{account_id}/sessions', {
      operationId: 'listAccountSessions',
      summary: 'List the sessions of an account, newest first',
      caller: operator,
      roles: ['viewer'],
      params: ofAccount,
      answers: {
        200: {
          description: 'All that go on, at most 50.',
          schema: z.object({ sessions: z.array(sessionSchema) }),
        },
      },
      handle: async ({ query, lifetimes }: ReadNeeds, { by, params: { account_id } }) => {
        await requireAccount(query, account_id);
        const sessions = await listSessions(query, account_id, lifetimes);
        return {
          sessions: sessions.map((one) => ({ ...one, address: seesAddresses(by) ? one.address : null })),
        };
      },
    }),
    operation('DELETE /private/accounts/{account_id}/sessions', {
      operationId: 'endAccountSessions',
      summary: 'End all sessions of an account',
      description: 'The temporary token ends, too.',
      caller: operator,
      roles: ['support'],
      params: ofAccount,
      answers: { 204: { description: 'All sessions have ended.' } },
      handle: async (needs: EndNeeds, { by: { actor }, params: { account_id } }) => {
        const ended = await needs.transact(async (inside) => {
          if ((await lockAccount(inside, account_id)) === undefined) throw new Problem('not_found');
          const sessions = await listSessions(inside, account_id, needs.lifetimes);
          const details = { sessions_before: sessions.length, sessions: 0 };
          const change = changeOf(['sessions'], { sessions: sessions.map(shown) }, { sessions: [] });
          const entry = { ...actor, application_id: null, account_id, details, change };
          await recordAudit(inside, { ...entry, action: 'signed_out_everywhere' });
          return endSessions(needs, inside, { account_id, actor });
        });
        await Promise.all(ended.map((tell) => tell()));
      },
    }),
    operation('DELETE /private/accounts/{account_id}/sessions/{session_id}', {
      operationId: 'endAccountSession',
      summary: 'End a session of an account',
      description: 'The temporary token ends, too.',
      caller: operator,
      roles: ['support'],
      params: ofAccount.extend({ session_id: idParameter }),
      answers: { 204: { description: 'The session has ended.' } },
      handle: async (
        needs: Omit<EndNeeds, 'lifetimes'>,
        { by: { actor }, params: { account_id, session_id } },
      ) => {
        await endSession(needs, { account_id, actor, session_id });
      },
    }),
  ],
} satisfies Chapter;

/** Without addresses, which not every role sees. */
function shown({ session_id, created_at, user_agent }: ListedSession) {
  return { session_id, created_at, user_agent };
}
