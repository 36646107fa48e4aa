import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import type { Request, Response } from 'express';
import { id, instant } from '../http/answer-fields.ts';
import { callerOf } from '../http/caller-address.ts';
import { idParameter } from '../http/input/id-parameter.ts';
import { isSecretToken } from '../identity/secret-token.ts';
import { webauthnOptionsSchema } from '../identity/two-factor/answers.ts';
import {
  assertionSchema,
  passkeyRefused,
  registrationSchema,
} from '../identity/two-factor/passkeys/input.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { changeOf } from '../platform/audit/change.ts';
import { isUniqueViolation } from '../platform/database/query.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { countAttempt, giveBackSignIn } from './attempts.ts';
import type { AttemptNeeds } from './attempts.ts';
import {
  answerWithSession,
  beginSession,
  operatorSessionAnswer,
  operatorSessionSchema,
} from './begin-session.ts';
import type { Begun } from './begin-session.ts';
import {
  enrolmentOptions,
  operatorAssertionOptions,
  verifyEnrolment,
  verifyOperatorAssertion,
} from './passkeys.ts';
import type { OperatorPasskeyNeeds } from './passkeys.ts';
import type { IdentityProvider } from './oidc/provider.ts';
import { actorOf, operatorSession } from './require-operator-session.ts';
import type { OperatorSessionNeeds } from './require-operator-session.ts';
import type { OperatorSite } from './settings.ts';
import { deleteOperatorSession, listOperatorSessions } from './session-store.ts';
import {
  findLink,
  hasLocalOperators,
  insertOperatorPasskey,
  lockLocalOperator,
  noteOperatorPasskeyUse,
  takeLink,
} from './store.ts';
import type { LinkPurpose, LocalOperator, OperatorPerson } from './store.ts';

type Needs = OperatorSessionNeeds &
  OperatorPasskeyNeeds &
  AttemptNeeds & {
    transact: Transact;
    operatorSite: OperatorSite;
    identityProvider: IdentityProvider | undefined;
    productName: string;
  };

const tokenField = z.string('must be text').refine(isSecretToken, 'is not a token of a link');

const COOKIE = { 'Set-Cookie': "The session's cookie." };

const BEGUN = { 201: { description: 'The new session.', schema: operatorSessionSchema, headers: COOKIE } };

const TOKEN = 'b3J2aWxsZS13cmlnaHQtYW5kLXdpbGJ1ci13cmlnaHQ';

/** Before a session. Requests of one address are limited, as each makes work. */
export const operatorSignIn = {
  title: 'Signing in',
  description: 'To the console of operators.',
  operations: [
    operation('GET /operator/api/sign-in', {
      operationId: 'getOperatorSignIn',
      summary: 'Get how operators can sign in',
      caller: anyone,
      answers: {
        200: {
          description: 'The ways.',
          schema: z.object({
            passkeys: z
              .object({ origin: z.string() })
              .nullable()
              .meta({ description: 'The origin whose page can use passkeys; null if none can.' }),
            oidc: z
              .object({ issuer: z.string() })
              .nullable()
              .meta({ description: 'The identity provider; null without one.' }),
            missing: z
              .enum(['operators_url', 'operators_local', 'operator'])
              .nullable()
              .meta({ description: 'What must be set up before anyone can sign in.' }),
          }),
        },
      },
      handle: async ({ query, operatorSite, operatorRelyingParty }: Needs) => {
        const { url, allowsLocal, issuer } = operatorSite;
        const oidc = issuer === undefined ? null : { issuer };
        if (url === undefined) return { passkeys: null, oidc, missing: 'operators_url' as const };
        if (!allowsLocal) {
          return { passkeys: null, oidc, missing: oidc === null ? ('operators_local' as const) : null };
        }
        const origin = operatorRelyingParty?.origin;
        const hasLocal = await hasLocalOperators(query);
        return {
          // Beside a provider only where someone has one.
          passkeys: origin === undefined || (oidc !== null && !hasLocal) ? null : { origin },
          oidc,
          missing: hasLocal || oidc !== null ? null : ('operator' as const),
        };
      },
    }),
    operation('POST /operator/api/sign-in/passkey/options', {
      operationId: 'getOperatorPasskeyOptions',
      summary: 'Get a challenge for a passkey',
      caller: anyone,
      answers: { 200: { description: 'For `navigator.credentials.get()`.', schema: webauthnOptionsSchema } },
      problems: ['passkeys_unavailable', 'local_operators_off', 'too_many_requests'],
      handle: async (needs: Needs, { req, res }) => {
        await countLocalAttempt(needs, req, res);
        return operatorAssertionOptions(needs);
      },
    }),
    operation('POST /operator/api/sign-in/passkey', {
      operationId: 'signInOperatorByPasskey',
      summary: 'Sign in with a passkey',
      caller: anyone,
      body: z.strictObject({ credential: assertionSchema }),
      answers: BEGUN,
      problems: ['passkeys_unavailable', 'local_operators_off', 'too_many_requests'],
      handle: async (needs: Needs, { body, req, res }) => {
        await countLocalAttempt(needs, req, res);
        const used = await verifyOperatorAssertion(needs, body.credential);
        const begun = await needs.transact(async (inside) => {
          const person = await lockLocalOperator(inside, used.operator_id);
          if (person === undefined || !(await noteOperatorPasskeyUse(inside, used))) throw passkeyRefused();
          return beginLocalSession(needs, inside, { person, method: 'passkey' }, { req, res });
        });
        await giveBackSignIn(needs, req, res);
        return new Reply(201, answerWithSession(res, needs, begun));
      },
    }),
    operation('POST /operator/api/enrolment/options', {
      operationId: 'getOperatorEnrolmentOptions',
      summary: 'Get a challenge for a new passkey, by the enrolment link',
      caller: anyone,
      body: z.strictObject({ token: tokenField }),
      example: { token: TOKEN },
      answers: {
        200: { description: 'For `navigator.credentials.create()`.', schema: webauthnOptionsSchema },
      },
      problems: ['passkeys_unavailable', 'local_operators_off', 'link_expired', 'too_many_requests'],
      handle: async (needs: Needs, { body, req, res }) => {
        await countLocalAttempt(needs, req, res);
        return enrolmentOptions(needs, await ownerOfLink(needs.query, body.token, 'enrolment'));
      },
    }),
    operation('POST /operator/api/enrolment', {
      operationId: 'enrolOperator',
      summary: 'Add the passkey of an enrolment link, and sign in',
      caller: anyone,
      body: z.strictObject({ token: tokenField, credential: registrationSchema }),
      answers: BEGUN,
      problems: ['passkeys_unavailable', 'local_operators_off', 'link_expired', 'too_many_requests'],
      handle: async (needs: Needs, { body: { token, credential }, req, res }) => {
        await countLocalAttempt(needs, req, res);
        const owner = await ownerOfLink(needs.query, token, 'enrolment');
        const passkey = await verifyEnrolment(needs, credential, owner.operator_id);
        const begun = await needs.transact(async (inside) => {
          const person = await takeLinkOf(inside, owner, { token, purpose: 'enrolment' });
          await insertOperatorPasskey(inside, person.operator_id, passkey).catch((error: unknown) => {
            throw isUniqueViolation(error) ? passkeyRefused(error) : error;
          });
          const { address, request_id } = callerOf(req, res);
          await recordAudit(inside, {
            ...actorOf({ ...person, issuer: null }, { address, request_id }),
            application_id: null,
            account_id: null,
            action: 'operator_enrolled',
            details: {},
          });
          return beginLocalSession(needs, inside, { person, method: 'enrolment' }, { req, res });
        });
        return new Reply(201, answerWithSession(res, needs, begun));
      },
    }),
    operation('POST /operator/api/sign-in/link', {
      operationId: 'signInOperatorByLink',
      summary: 'Sign in with a one-time link',
      description: 'For development: only where `OPERATORS_URL` is a loopback address.',
      caller: anyone,
      body: z.strictObject({ token: tokenField }),
      example: { token: TOKEN },
      answers: BEGUN,
      problems: ['local_operators_off', 'link_expired', 'too_many_requests'],
      handle: async (needs: Needs, { body: { token }, req, res }) => {
        await countLocalAttempt(needs, req, res);
        if (!needs.operatorSite.isLoopback) throw linkExpired();
        const owner = await ownerOfLink(needs.query, token, 'sign_in');
        const begun = await needs.transact(async (inside) => {
          const person = await takeLinkOf(inside, owner, { token, purpose: 'sign_in' });
          return beginLocalSession(needs, inside, { person, method: 'link' }, { req, res });
        });
        return new Reply(201, answerWithSession(res, needs, begun));
      },
    }),
  ],
} satisfies Chapter;

export const operatorSessions = {
  title: 'Sessions',
  description: "An operator's own.",
  operations: [
    operation('GET /operator/api/session', {
      operationId: 'getOperatorSession',
      summary: 'Get the current session',
      caller: operatorSession,
      answers: { 200: { description: 'The session.', schema: operatorSessionSchema } },
      handle: (_needs: unknown, { by }) => operatorSessionAnswer(by),
    }),
    operation('DELETE /operator/api/session', {
      operationId: 'signOutOperator',
      summary: 'Sign out',
      caller: operatorSession,
      answers: {
        200: {
          description: 'The session has ended.',
          schema: z.object({
            end_session_url: z.string().nullable().meta({
              description:
                'Where the browser goes to sign out of the identity provider too; null if nowhere.',
            }),
          }),
          headers: COOKIE,
        },
      },
      handle: async (
        needs: Pick<Needs, 'transact' | 'operatorCookie' | 'identityProvider'>,
        { by: { session, actor }, res },
      ) => {
        const ended = await needs.transact(async (inside) => {
          const deleted = await deleteOperatorSession(inside, session.operator_id, session.session_id);
          // A concurrent request may have ended it.
          if (deleted === undefined) return;
          const change = changeOf(['session_id'], session, null);
          const entry = { ...actor, application_id: null, account_id: null, details: {}, change };
          await recordAudit(inside, { ...entry, action: 'operator_signed_out' });
          return deleted;
        });
        needs.operatorCookie.clear(res);
        const isByProvider = ended !== undefined && ended.issuer !== null;
        const provider = isByProvider ? needs.identityProvider : undefined;
        return { end_session_url: (await provider?.endSessionUrl(ended?.id_token ?? null)) ?? null };
      },
    }),
    operation('GET /operator/api/sessions', {
      operationId: 'listOperatorSessions',
      summary: 'List sessions, newest first',
      caller: operatorSession,
      answers: {
        200: {
          description: 'The sessions.',
          schema: z.object({
            sessions: z.array(
              z.object({
                session_id: id,
                created_at: instant,
                last_seen_at: instant,
                expires_at: instant,
                address: z.string(),
                user_agent: z.string(),
                current: z.boolean(),
              }),
            ),
          }),
        },
      },
      handle: async (
        { query, operatorLifetimes }: Pick<Needs, 'query' | 'operatorLifetimes'>,
        { by: { session } },
      ) => {
        const found = await listOperatorSessions(query, session.operator_id, operatorLifetimes);
        return { sessions: found.map((one) => ({ ...one, current: one.session_id === session.session_id })) };
      },
    }),
    operation('DELETE /operator/api/sessions/{session_id}', {
      operationId: 'endOperatorSession',
      summary: 'End a session',
      caller: operatorSession,
      params: z.object({ session_id: idParameter }),
      answers: { 204: { description: 'The session has ended.' } },
      handle: async (
        { transact }: Pick<Needs, 'transact'>,
        { by: { session, actor }, params: { session_id } },
      ) => {
        await transact(async (inside) => {
          if ((await deleteOperatorSession(inside, session.operator_id, session_id)) === undefined) {
            throw new Problem('not_found');
          }
          const change = changeOf(['session_id'], { session_id }, null);
          const entry = { ...actor, application_id: null, account_id: null, details: { session_id }, change };
          await recordAudit(inside, { ...entry, action: 'operator_session_ended' });
        });
      },
    }),
  ],
} satisfies Chapter;

/** @throws {Problem} local_operators_off; too_many_requests */
async function countLocalAttempt(
  needs: Pick<Needs, 'counts' | 'operatorSite'>,
  req: Request,
  res: Response,
): Promise<void> {
  const { url, allowsLocal } = needs.operatorSite;
  if (url === undefined || !allowsLocal) throw new Problem('local_operators_off');
  await countAttempt(needs, req, res);
}

function beginLocalSession(
  needs: Needs,
  inside: Query,
  { person, method }: { person: LocalOperator; method: 'passkey' | 'enrolment' | 'link' },
  call: { req: Request; res: Response },
): Promise<Begun> {
  return beginSession(needs, inside, { person, role: person.local_role, by: { method } }, call);
}

async function ownerOfLink(query: Query, token: string, purpose: LinkPurpose): Promise<OperatorPerson> {
  const person = await findLink(query, token, purpose);
  if (person === undefined) throw linkExpired();
  return person;
}

/** @throws {Problem} link_expired, also if the operator has just been removed */
async function takeLinkOf(
  inside: Query,
  { operator_id }: OperatorPerson,
  { token, purpose }: { token: string; purpose: LinkPurpose },
): Promise<LocalOperator> {
  const person = await lockLocalOperator(inside, operator_id);
  if (person === undefined || !(await takeLink(inside, token, purpose))) throw linkExpired();
  return person;
}

function linkExpired(): Problem {
  return new Problem('link_expired', {
    detail: 'The link has been used or has expired. Ask for another one.',
  });
}
