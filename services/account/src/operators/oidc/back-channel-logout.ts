import express from 'express';
import type { RequestHandler } from 'express';
import type { Logger } from '@tollgate/log';
import { callerOf } from '../../http/caller-address.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Transact } from '../../platform/database/query.ts';
import { countAttempt } from '../attempts.ts';
import type { AttemptNeeds } from '../attempts.ts';
import { actorOf } from '../require-operator-session.ts';
import { endSessionsOf, takeLogoutToken } from './identities.ts';
import type { IdentityProvider } from './provider.ts';

type Needs = AttemptNeeds & { transact: Transact };

const MAX_BODY_BYTES = 16_384;

/**
 * The provider says that someone has signed out there (OpenID Connect Back-Channel Logout 1.0). Its token authenticates
 * it, so the answers are the standard's and not our API's.
 */
export function backChannelLogout(
  provider: IdentityProvider,
  needs: Needs,
  logger: Pick<Logger, 'warn'>,
): RequestHandler[] {
  return [
    express.urlencoded({ extended: false, limit: MAX_BODY_BYTES, parameterLimit: 10 }),
    async (req, res) => {
      const { logout_token: token } = (req.body ?? {}) as Record<string, unknown>;
      const read = await readToken(provider, token).catch((error: unknown) => {
        const reason = error instanceof Error ? error.name : 'unknown';
        logger.warn({ reason, issuer: provider.issuer }, 'a logout token was refused');
      });
      // All that the provider says comes from one address, and must not be limited.
      if (read === undefined) await countAttempt(needs, req, res);
      const { issuer } = provider;
      const isTaken =
        read !== undefined &&
        (await needs.transact(async (inside) => {
          if (!(await takeLogoutToken(inside, issuer, read))) return false;
          const { address, request_id } = callerOf(req, res);
          for (const ended of await endSessionsOf(inside, issuer, read)) {
            await recordAudit(inside, {
              ...actorOf({ ...ended, issuer }, { address, request_id }),
              application_id: null,
              account_id: null,
              action: 'operator_session_ended',
              details: { session_id: ended.session_id, by: 'identity_provider' },
            });
          }
          return true;
        }));
      if (isTaken) res.status(200).end();
      else res.status(400).json({ error: 'invalid_request' });
    },
  ];
}

async function readToken(provider: IdentityProvider, token: unknown) {
  if (typeof token !== 'string') throw new TypeError('logout_token must be one text');
  return provider.readLogoutToken(token);
}
