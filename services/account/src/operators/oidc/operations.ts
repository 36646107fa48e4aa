import type { Request, Response } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { callerOf } from '../../http/caller-address.ts';
import type { SessionCookie } from '../../identity/sessions/session-cookie.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { countAttempt, giveBackSignIn } from '../attempts.ts';
import type { AttemptNeeds } from '../attempts.ts';
import { answerWithSession, beginSession, operatorSessionSchema } from '../begin-session.ts';
import { actorOf, liveSession } from '../require-operator-session.ts';
import type { OperatorSessionNeeds } from '../require-operator-session.ts';
import { deleteOperatorSession } from '../session-store.ts';
import type { OperatorSession } from '../session-store.ts';
import type { NoRole } from './groups.ts';
import { operatorOf } from './identities.ts';
import { isRefusedByProvider } from './provider.ts';
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
      description:
        'With `silent`, in a session of the provider, the role is read again before the session ends: the new session ' +
        'takes its place, and it ends if the provider refuses or the role is gone.',
      body: z.strictObject({
        again: z.boolean().meta({
          description: 'Whether the provider must ask who it is, also where it knows: after signing out.',
        }),
        silent: z.boolean().default(false).meta({ description: 'Whether the provider must ask nothing.' }),
      }),
      example: { again: false, silent: false },
      answers: {
        201: {
          description: 'Where the browser goes.',
          schema: z.object({ authorization_url: z.string() }),
          headers: COOKIE,
        },
      },
      problems: ['not_found', 'unauthorized', 'too_many_requests', 'identity_provider_unavailable'],
      handle: async (needs: Needs, { body: { again, silent }, req, res }) => {
        const present = await countUnlessSignedIn(needs, req, res);
        const provider = providerOf(needs);
        if (silent && present?.issuer !== provider.issuer) throw new Problem('unauthorized');
        const { browser, secrets, expires_at } = await insertSignIn(needs.query, provider.issuer);
        const prompt = silent ? 'none' : again ? 'login' : undefined;
        const authorization_url = await provider.authorizationUrl(secrets, prompt);
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
        const present = await countUnlessSignedIn(needs, req, res);
        const provider = providerOf(needs);
        const browser = needs.operatorSignInCookie.read(req);
        const secrets =
          browser === undefined ? undefined : await takeSignIn(needs.query, browser, provider.issuer);
        if (secrets === undefined) throw new Problem('sign_in_expired');
        needs.operatorSignInCookie.clear(res);
        const end = () => endPresent(needs, provider, present, { req, res });
        const identity = await provider.identityOf(parameters, secrets).catch(async (error: unknown) => {
          if (isRefusedByProvider(error)) await end();
          throw error;
        });
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
          await end();
          throw noRole(identity, found);
        }
        const { role } = found;
        const begun = await needs.transact(async (inside) => {
          const person = await operatorOf(inside, identity);
          const by = { method: 'oidc', issuer, subject, provider_session, id_token } as const;
          return beginSession(needs, inside, { person, role, by }, { req, res });
        });
        if (present === undefined) await giveBackSignIn(needs, req, res);
        return new Reply(201, answerWithSession(res, needs, begun));
      },
    }),
  ],
} satisfies Chapter;

/** Of one address, before it has signed in. @throws {Problem} too_many_requests */
async function countUnlessSignedIn(
  needs: Needs,
  req: Request,
  res: Response,
): Promise<OperatorSession | undefined> {
  const present = await liveSession(needs, req);
  if (present === undefined) await countAttempt(needs, req, res);
  return present?.session;
}

/** The browser's session by the provider, which no longer says that its role holds. */
async function endPresent(
  { transact, operatorCookie }: Pick<Needs, 'transact' | 'operatorCookie'>,
  { issuer }: IdentityProvider,
  present: OperatorSession | undefined,
  { req, res }: { req: Request; res: Response },
): Promise<void> {
  if (present?.issuer !== issuer) return;
  const { operator_id, session_id } = present;
  const { address, request_id } = callerOf(req, res);
  await transact(async (inside) => {
    if ((await deleteOperatorSession(inside, operator_id, session_id)) === undefined) return;
    await recordAudit(inside, {
      ...actorOf(present, { address, request_id }),
      application_id: null,
      account_id: null,
      action: 'operator_session_ended',
      details: { session_id, by: 'identity_provider' },
    });
  });
  operatorCookie.clear(res);
}

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
