import type { z } from 'zod';
import { Reply, anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import type { Request, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { callerOf } from '../../http/caller-address.ts';
import type { Caller } from '../../http/caller-address.ts';
import { addressSchema } from '../../identity/accounts/input.ts';
import { refuseExceeded } from '../../identity/attempts/attempt-counts.ts';
import type { AttemptCounts, AttemptLimit } from '../../identity/attempts/attempt-counts.ts';
import { sessionSchema } from '../../identity/sessions/answers.ts';
import { completeSignIn } from '../../identity/sessions/complete-sign-in.ts';
import { factorsOf } from '../../identity/sessions/factors.ts';
import { browserOf, setSession } from '../../identity/sessions/operations.ts';
import { session, sessionOf } from '../../identity/sessions/require-session.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import type { SessionCookie } from '../../identity/sessions/session-cookie.ts';
import type { SessionLifetimes } from '../../identity/sessions/session-store.ts';
import { requireConfirmed } from '../../identity/two-factor/confirmation.ts';
import { emailAddressOf } from '../../mail/email-address.ts';
import { emailOf, emailVerified, nameOf } from '../../oidc/claims.ts';
import type { Claims } from '../../oidc/claims.ts';
import { ProviderFault } from '../../oidc/provider-fault.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';
import { auditTeam } from '../changes.ts';
import { managedTeam } from '../domains/changes.ts';
import { holdsDomain } from '../domains/store.ts';
import { lockTeams, managerOf } from '../store.ts';
import { admit } from './admit.ts';
import type { TeamIdentity } from './admit.ts';
import { authorizationSchema, ssoSchema, testedSchema } from './answers.ts';
import {
  found,
  isFreshlySignedInBySso,
  refuseFault,
  removeProvider,
  requireSso,
  setProvider,
  stopRequiringSso,
} from './changes.ts';
import { faultOf } from './discovery.ts';
import { providerSchema, ssoAnswerSchema } from './input.ts';
import type { RelyingParties } from './relying-parties.ts';
import {
  countCovered,
  findProvider,
  findProviderOf,
  insertSignIn,
  noteFailure,
  noteSignedIn,
  takeSignIn,
} from './store.ts';
import type { SealedProvider } from './store.ts';

type Needs = {
  query: Query;
  transact: Transact;
  counts: AttemptCounts;
  lifetimes: SessionLifetimes;
  cookie: SessionCookie;
  /** Binds a sign-in to the browser that has begun it. */
  ssoCookie: SessionCookie;
  relyingParties: RelyingParties;
  sealingKeys: readonly SealingKey[];
  wakeMails: () => void;
};

const COOKIE = { 'Set-Cookie': 'Binds the sign-in to the browser.' };

const CONFIRMED =
  'Needs a session that was signed in with a password or passkey, or confirmed, within 15 minutes.';

/** Requests of one address: each makes work, here and at someone's identity provider. */
const ATTEMPTS_PER_ADDRESS = 100;
const ATTEMPTS_WINDOW_SEC = 900;

export const ownerSso = {
  title: 'Single sign-on',
  description:
    'Signing in by the identity provider of one’s team, with OpenID Connect. The team’s settings are for the manager only.',
  operations: [
    operation('POST /api/console/sign-in/sso', {
      operationId: 'beginSso',
      summary: 'Begin a sign-in by the team’s identity provider',
      description:
        'The team is the one that has proven the domain of the address. It need not have an account yet.',
      caller: anyone,
      body: addressSchema,
      example: { email: 'ada@example.com' },
      answers: { 201: { description: 'Where to sign in.', schema: authorizationSchema, headers: COOKIE } },
      problems: ['sso_not_available', 'too_many_requests', 'identity_provider_unavailable'],
      handle: async (needs: Needs, { body: { email }, req, res }) => {
        await countAttempt(needs, callerOf(req, res));
        const provider = await findProviderOf(needs.query, email);
        if (provider === undefined) throw new Problem('sso_not_available');
        return new Reply(201, await begin(needs, res, provider, { isTest: false, hint: email }));
      },
    }),
    operation('POST /api/console/session/sso', {
      operationId: 'signInBySso',
      summary: 'Sign in with the answer of the team’s identity provider',
      description:
        'A person who is new gets an account and joins the team, if the provider has verified an address of a proven ' +
        'domain. If the address has an account, its owner signs in to it once and repeats this: `sso_link_required`.',
      caller: anyone,
      body: ssoAnswerSchema,
      example: { team_id: 7, parameters: 'code=SplxlOBeZQQYbYS6WxSbIA&state=af0ifjsldkj' },
      answers: {
        200: { description: 'What a test has found out. No one is signed in.', schema: testedSchema },
        201: {
          description: 'The new session.',
          schema: sessionSchema,
          headers: { 'Set-Cookie': "The session's cookie." },
        },
      },
      problems: [
        'sign_in_expired',
        'sso_sign_in_failed',
        'sso_not_allowed',
        'sso_link_required',
        'already_in_team',
        'team_slots_limit_exceeded',
        'too_many_requests',
        'identity_provider_unavailable',
      ],
      handle: async (needs: Needs, { body: { team_id, parameters }, req, res }) => {
        const by = callerOf(req, res);
        await countAttempt(needs, by);
        const binding = needs.ssoCookie.read(req);
        const begun = binding === undefined ? undefined : await takeSignIn(needs.query, binding, team_id);
        if (begun === undefined) throw new Problem('sign_in_expired');
        needs.ssoCookie.clear(res);
        const { provider, secrets, is_test } = begun;
        try {
          const party = needs.relyingParties.of(provider);
          const answer = await party.answerTo(parameters, secrets, saysEnough);
          const identity = { subject: answer.subject, ...shownOf(answer.claims) };
          if (is_test) return new Reply(200, await tested(needs.query, provider, identity));
          const signedIn = await signIn(needs, { provider, identity, by }, req, res);
          await giveBackSignIn(needs, by);
          return new Reply(201, signedIn);
        } catch (error) {
          await noteRefused(needs, provider, error, by);
          return refuseFault(error);
        }
      },
    }),
    operation('GET /api/console/team/sso', {
      operationId: 'getTeamSso',
      summary: 'Get the team’s single sign-on',
      caller: session,
      answers: { 200: { description: 'The settings.', schema: ssoSchema } },
      problems: ['forbidden', 'not_found'],
      handle: async (needs: Needs, { by }) => ssoAnswer(needs, by, await managedTeam(needs.query, by)),
    }),
    operation('PUT /api/console/team/sso', {
      operationId: 'setTeamSso',
      summary: 'Set the team’s identity provider',
      description: `The issuer is asked for its metadata at once. A new issuer or client ends the sessions that the former one has begun. ${CONFIRMED}`,
      caller: session,
      guard: requireConfirmed,
      body: providerSchema,
      example: { issuer: 'https://login.example.com', client_id: 'tollgate', client_secret: 'a-long-secret' },
      answers: { 200: { description: 'The settings.', schema: ssoSchema } },
      problems: ['confirmation_required', 'not_found', 'sso_enforced', 'too_many_requests'],
      handle: async (needs: Needs, { by, body, req, res }) => {
        await countAttempt(needs, callerOf(req, res));
        const { team_id } = await setProvider(needs, by, body);
        needs.wakeMails();
        return ssoAnswer(needs, by, team_id);
      },
    }),
    operation('DELETE /api/console/team/sso', {
      operationId: 'removeTeamSso',
      summary: 'Remove the team’s identity provider',
      description: `Ends the sessions that it has begun. Members without a password get a link to set one. ${CONFIRMED}`,
      caller: session,
      guard: requireConfirmed,
      answers: { 204: { description: 'The identity provider was removed.' } },
      problems: ['confirmation_required', 'not_found'],
      handle: async (needs: Needs, { by }) => {
        await needs.transact((inside) => removeProvider(inside, by));
        needs.wakeMails();
      },
    }),
    operation('POST /api/console/team/sso/test', {
      operationId: 'testTeamSso',
      summary: 'Begin a test of the team’s identity provider',
      description:
        'The answer goes to `POST /api/console/session/sso`, which says what it holds and signs in no one.',
      caller: session,
      answers: { 201: { description: 'Where to sign in.', schema: authorizationSchema, headers: COOKIE } },
      problems: ['not_found', 'too_many_requests', 'identity_provider_unavailable'],
      handle: async (needs: Needs, { by, req, res }) => {
        await countAttempt(needs, callerOf(req, res));
        const provider = found(await findProvider(needs.query, await managedTeam(needs.query, by)));
        return new Reply(201, await begin(needs, res, provider, { isTest: true, hint: null }));
      },
    }),
    operation('PUT /api/console/team/sso/requirement', {
      operationId: 'requireTeamSso',
      summary: 'Require single sign-on of members',
      description:
        'Of members whose addresses are of a proven domain; never of the manager, who must have a second factor and have ' +
        `signed in by single sign-on within 15 minutes. Ends the members’ other sessions, not their tokens. ${CONFIRMED}`,
      caller: session,
      guard: requireConfirmed,
      answers: { 200: { description: 'The settings.', schema: ssoSchema } },
      problems: ['confirmation_required', 'not_found', 'sso_session_required', 'sso_needs_second_factor'],
      handle: async (needs: Needs, { by }) => {
        await needs.transact((inside) => requireSso(inside, by));
        needs.wakeMails();
        return ssoAnswer(needs, by, await managedTeam(needs.query, by));
      },
    }),
    operation('DELETE /api/console/team/sso/requirement', {
      operationId: 'stopRequiringTeamSso',
      summary: 'Stop requiring single sign-on',
      description: CONFIRMED,
      caller: session,
      guard: requireConfirmed,
      answers: { 200: { description: 'The settings.', schema: ssoSchema } },
      problems: ['confirmation_required', 'not_found'],
      handle: async (needs: Needs, { by }) => {
        await needs.transact((inside) => stopRequiringSso(inside, by));
        return ssoAnswer(needs, by, await managedTeam(needs.query, by));
      },
    }),
  ],
} satisfies Chapter;

function limitsOf({ addressGroup }: Caller): AttemptLimit[] {
  const subject = `single sign-on address ${addressGroup}`;
  return [{ subject, max: ATTEMPTS_PER_ADDRESS, windowSec: ATTEMPTS_WINDOW_SEC }];
}

async function countAttempt({ counts }: Pick<Needs, 'counts'>, by: Caller): Promise<void> {
  refuseExceeded(await counts.take(limitsOf(by)));
}

/** Both steps of one that has succeeded: all of a company may have one address. */
async function giveBackSignIn({ counts }: Pick<Needs, 'counts'>, by: Caller): Promise<void> {
  for (let step = 0; step < 2; step += 1) await counts.giveBack(limitsOf(by));
}

/** @throws {Problem} identity_provider_unavailable */
async function begin(
  { query, relyingParties, ssoCookie }: Needs,
  res: Response,
  provider: SealedProvider,
  { isTest, hint }: { isTest: boolean; hint: string | null },
): Promise<z.output<typeof authorizationSchema>> {
  const { browser, secrets, expires_at } = await insertSignIn(query, provider, isTest);
  try {
    const party = relyingParties.of(provider);
    const parameters = hint === null ? {} : { login_hint: hint };
    const authorization_url = await party.authorizationUrl(secrets, { parameters });
    ssoCookie.set(res, browser, expires_at);
    return { authorization_url };
  } catch (error) {
    if (error instanceof ProviderFault) await noteFailure(query, provider.provider_id, faultText(error));
    return refuseFault(error);
  }
}

async function signIn(
  needs: Needs,
  { provider, identity, by }: { provider: SealedProvider; identity: TeamIdentity; by: Caller },
  req: Request,
  res: Response,
) {
  const present = await sessionOf(needs, req);
  const proof =
    present === undefined
      ? undefined
      : { account_id: present.session.account.account_id, is_confirmed: present.session.is_confirmed };
  const begun = await needs.transact(async (inside) => {
    const { account, identity_id } = await admit(inside, { provider, identity, proof, by });
    await noteSignedIn(inside, provider.provider_id);
    return completeSignIn(inside, {
      account,
      browser: browserOf(req, needs.cookie),
      by,
      lifetimes: needs.lifetimes,
      details: { sso: provider.issuer },
      ssoIdentityId: identity_id,
    });
  });
  needs.wakeMails();
  return setSession(res, needs.cookie, begun);
}

async function tested(
  query: Query,
  { team_id }: SealedProvider,
  { subject, name, email, email_verified }: TeamIdentity,
): Promise<z.output<typeof testedSchema>> {
  const domain_proven = email !== null && (await holdsDomain(query, team_id, email));
  return { subject, name, email, email_verified, domain_proven };
}

function saysEnough(own: Claims): boolean {
  return own['email'] !== undefined && emailVerified(verifiedAs(own)) !== null && own['name'] !== undefined;
}

function shownOf(claims: Claims): Omit<TeamIdentity, 'subject'> {
  return {
    name: nameOf([claims['name'], claims['preferred_username']]),
    email: emailAddressOf(emailOf(claims) ?? '') ?? null,
    email_verified: emailVerified(verifiedAs(claims)),
  };
}

/** Entra ID has a claim of its own, which says that the address’s domain is the tenant’s. */
function verifiedAs(claims: Claims): Claims {
  if (claims['email_verified'] !== undefined) return claims;
  const edov = claims['xms_edov'];
  if (edov === undefined) return claims;
  return { email_verified: edov === true || edov === 1 || edov === '1' || edov === 'true' };
}

function faultText(fault: ProviderFault): string {
  return fault.isUnavailable ? `The identity provider ${faultOf(fault)}.` : `Not accepted: ${fault.message}.`;
}

/** The manager sees it, as only the manager can do something about it. */
async function noteRefused(
  { query, transact }: Pick<Needs, 'query' | 'transact'>,
  { provider_id, team_id, issuer }: SealedProvider,
  error: unknown,
  { address, request_id }: Caller,
): Promise<void> {
  if (error instanceof ProviderFault) {
    await noteFailure(query, provider_id, faultText(error));
    return;
  }
  if (!(error instanceof Problem) || error.code === 'sso_link_required') return;
  const why = error.detail ?? error.code;
  await noteFailure(query, provider_id, why);
  await transact(async (inside) => {
    const [team] = await lockTeams(inside, [team_id]);
    if (team === undefined) return;
    const actor = { actor: 'team-sso', address, request_id };
    const account_id = await managerOf(inside, team_id);
    await auditTeam(inside, { account_id, actor }, team, 'team_sso_refused', { issuer, reason: why });
  });
}

async function ssoAnswer(
  { query, relyingParties }: Pick<Needs, 'query' | 'relyingParties'>,
  by: SignedIn,
  teamId: number,
): Promise<z.output<typeof ssoSchema>> {
  const provider = await findProvider(query, teamId);
  return {
    redirect_uri: relyingParties.redirectUriOf(teamId),
    provider: provider === undefined ? null : shownProvider(provider),
    members: await countCovered(query, teamId),
    can_require: {
      signed_in_by_it: isFreshlySignedInBySso(by),
      has_second_factor: (await factorsOf(query, by.account_id)).length > 0,
    },
  };
}

export function shownProvider(provider: SealedProvider) {
  const { issuer, client_id, created_at, changed_at, required_at } = provider;
  const { last_signed_in_at, last_failed_at, last_failure } = provider;
  const settings = { issuer, client_id, created_at, changed_at, required_at };
  return { ...settings, last_signed_in_at, last_failed_at, last_failure };
}
