import { accessTokenHash, newAccessToken } from '@tollgate/credentials/access-token';
import { Problem } from '@tollgate/http/problem';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import type { LiveSession } from '../../identity/sessions/session-store.ts';
import { hashOfToken, isSecretToken } from '../../identity/secret-token.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { redirectHost } from '../redirect-uris/redirect-uri.ts';
import { forbiddenByTeam, isForbiddenByTeam } from './team-rule.ts';
import { answerAddress } from './request.ts';
import { findRequest, insertCode, takeRequest } from './store.ts';
import type { AskedFor } from './store.ts';

/** What a person answers to an application's request. */
export type Consent = {
  /** @throws {Problem} not_found for a request that was answered or has expired */
  describe: (id: string, by: SignedIn) => Promise<Described>;
  /** The address that the browser goes to. @throws {Problem} not_found; forbidden */
  allow: (id: string, by: SignedIn) => Promise<string>;
  /** @throws {Problem} not_found */
  deny: (id: string) => Promise<string>;
};

type Described = {
  application: { name: string; client_id: string; developer: string | null; is_verified: boolean };
  redirect_host: string | null;
  redirect_scheme: string;
  scopes: string[];
  account: { name: string; email: string };
  payer: { is_own: boolean; name: string; team_name: string | null };
  is_forbidden_by_team: boolean;
  expires_at: Date;
};

export function createConsent({
  query,
  transact,
  issuer,
  codePrefix,
  codeLifetimeSec,
}: {
  query: Query;
  transact: Transact;
  issuer: string;
  codePrefix: string;
  codeLifetimeSec: number;
}): Consent {
  return {
    describe: async (id, { session }) => {
      const asked = await findRequest(query, hashOf(id));
      if (asked === undefined) throw new Problem('not_found');
      const { name, developer, is_verified, redirect_uri, scope, expires_at } = asked;
      const client_id = asked.document_url ?? asked.client_id;
      const { account } = session;
      return {
        application: { name, client_id, developer, is_verified },
        redirect_host: redirectHost(redirect_uri),
        redirect_scheme: new URL(redirect_uri).protocol.slice(0, -1),
        scopes: scope.split(' '),
        account: { name: account.name, email: account.email },
        payer: await findPayer(query, session),
        is_forbidden_by_team: await isForbiddenByTeam(query, account.account_id),
        expires_at,
      };
    },
    allow: (id, { account_id, session }) =>
      transact(async (inside) => {
        if (await isForbiddenByTeam(inside, account_id, true)) throw forbiddenByTeam();
        const request = await take(inside, id);
        const code = newAccessToken(codePrefix, request.client_id);
        await insertCode(inside, {
          ...request,
          code_hash: accessTokenHash(code),
          account_id,
          session_id: session.session_id,
          lifetimeSec: codeLifetimeSec,
        });
        return answerAddress(request, issuer, { code });
      }),
    deny: async (id) => {
      const request = await take(query, id);
      const error_description = 'The person did not authorize the application.';
      return answerAddress(request, issuer, { error: 'access_denied', error_description });
    },
  };
}

function hashOf(id: string): Buffer {
  if (!isSecretToken(id)) throw new Problem('not_found');
  return hashOfToken(id);
}

/** Takes the request to answer it. */
async function take(query: Query, id: string): Promise<AskedFor> {
  const request = await findRequest(query, hashOf(id));
  if (request === undefined || !(await takeRequest(query, hashOf(id)))) throw new Problem('not_found');
  return request;
}

/** As of now: each call is paid by the payer of its moment. */
async function findPayer(query: Query, { account, member_of }: LiveSession): Promise<Described['payer']> {
  const own = { is_own: true, name: account.name, team_name: null };
  if (member_of === null) return own;
  const rows = await query<{ name: string; team_name: string }>(
    `SELECT accounts.name, teams.name AS team_name
     FROM accounts JOIN team_members USING (account_id) JOIN teams USING (team_id)
     WHERE account_id = :manager_id`,
    member_of,
  );
  const [manager] = rows;
  // The team may have ended meanwhile.
  return manager === undefined ? own : { is_own: false, ...manager };
}
