import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { callerOf } from '../../http/caller-address.ts';
import type { SessionCookie } from '../../identity/sessions/session-cookie.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { countAttempt } from '../attempts.ts';
import type { AttemptNeeds } from '../attempts.ts';
import { answerWithSession, beginSession, operatorSessionSchema } from '../begin-session.ts';
import type { OperatorSessionNeeds } from '../require-operator-session.ts';
import type { NoRole } from './groups.ts';
import { operatorOf } from './identities.ts';
import type { Identity, IdentityProvider } from './provider.ts';
import { insertSignIn, takeSignIn } from './sign-ins.ts';

type Needs = OperatorSessionNeeds &
  AttemptNeeds & {
    query: Query;
    transact: Transact;
    identityProvider: IdentityProvider | undefined;
    operatorSignInCookie: SessionCookie;
  };

const COOKIE = { 'Set-Cookie': "Binds the sign-in to the browser, or the session's cookie." };

/** Longer than what providers send. */
const MAX_PARAMETERS_LENGTH = 8_192;

/** By the identity provider. The page hands on what the provider has put into its address. */
export const operatorOidc = {
  title: 'Signing in by the identity provider',
  description: 'By OpenID Connect, if `OPERATORS_OIDC_ISSUER` is set.',
  operations: [
    operation('POST /operator/api/sign-in/oidc/authorization', {
      operationId: 'beginOperatorOidcSignIn',
      summary: 'Begin a sign-in by the identity provider',
      caller: anyone,
      body: z.strictObject({
        again: z.boolean().meta({
          description: 'Whether the provider must ask who it is, also where it knows: after signing out.',
        }),
      }),
      example: { again: false },
      answers: {
        201: {
          description: 'Where the browser goes.',
          schema: z.object({ authorization_url: z.string() }),
          headers: COOKIE,
        },
      },
      problems: ['not_found', 'too_many_requests', 'identity_provider_unavailable'],
      handle: async (needs: Needs, { body: { again }, req, res }) => {
        await countAttempt(needs, req, res);
        const provider = providerOf(needs);
        const { browser, secrets, expires_at } = await insertSignIn(needs.query, provider.issuer);
        const authorization_url = await provider.authorizationUrl(secrets, { again });
        needs.operatorSignInCookie.set(res, browser, expires_at);
        return new Reply(201, { authorization_url });
      },
    }),
    operation('POST /operator/api/sign-in/oidc', {
      operationId: 'signInOperatorByOidc',
      summary: 'Sign in with the answer of the identity provider',
      caller: anyone,
      body: z.strictObject({
        parameters: z
          .string()
          .max(MAX_PARAMETERS_LENGTH)
          .meta({ description: 'The query of the address that the provider has led to, without the `?`.' }),
      }),
      example: { parameters: 'code=SplxlOBeZQQYbYS6WxSbIA&state=af0ifjsldkj' },
      answers: {
        201: { description: 'The new session.', schema: operatorSessionSchema, headers: COOKIE },
      },
      problems: [
        'not_found',
        'sign_in_expired',
        'operator_sign_in_failed',
        'no_operator_role',
        'too_many_requests',
        'identity_provider_unavailable',
      ],
      handle: async (needs: Needs, { body: { parameters }, req, res }) => {
        await countAttempt(needs, req, res);
        const provider = providerOf(needs);
        const browser = needs.operatorSignInCookie.read(req);
        const secrets =
          browser === undefined ? undefined : await takeSignIn(needs.query, browser, provider.issuer);
        if (secrets === undefined) throw new Problem('sign_in_expired');
        needs.operatorSignInCookie.clear(res);
        const identity = await provider.identityOf(parameters, secrets);
        const { found, issuer, subject, provider_session, id_token } = identity;
        if (found.role === null) {
          const { address, request_id } = callerOf(req, res);
          await recordAudit(needs.query, {
            actor: 'operator-sign-in',
            address,
            request_id,
            application_id: null,
            account_id: null,
            action: 'operator_sign_in_refused',
            details: { why: found.why, issuer, subject, name: identity.name },
          });
          throw noRole(identity, found);
        }
        const { role } = found;
        const begun = await needs.transact(async (inside) => {
          const person = await operatorOf(inside, identity);
          const by = { method: 'oidc', issuer, subject, provider_session, id_token } as const;
          return beginSession(needs, inside, { person, role, by }, { req, res });
        });
        return new Reply(201, answerWithSession(res, needs, begun));
      },
    }),
  ],
} satisfies Chapter;

/** @throws {Problem} not_found */
function providerOf({ identityProvider }: Pick<Needs, 'identityProvider'>): IdentityProvider {
  if (identityProvider === undefined) throw new Problem('not_found');
  return identityProvider;
}

const WHAT_TO_DO: Readonly<Record<NoRole, (groups: string) => string>> = {
  no_groups_claim: () =>
    'The identity provider sent no groups. Have it send the groups assigned to the application, or app roles.',
  too_many_groups: () =>
    'There are too many groups for the identity provider to send. Have it send only groups assigned to the application, or app roles.',
  no_group: () => 'The identity provider lists no groups for this account.',
  unmapped_groups: (groups) => `OPERATORS_OIDC_GROUPS has none of its groups: ${groups}.`,
};

function noRole(
  { name, email }: Pick<Identity, 'name' | 'email'>,
  { why, groups }: { why: NoRole; groups: string },
): Problem {
  const who = email === null || email === name ? name : `${name} (${email})`;
  return new Problem('no_operator_role', { detail: `${who} has no role here. ${WHAT_TO_DO[why](groups)}` });
}
