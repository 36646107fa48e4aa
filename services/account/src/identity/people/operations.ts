import type { Answer } from '@tollgate/contracts/api-description';
import { anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount, setName } from '../accounts/account-store.ts';
import { callerOf } from '../../http/caller-address.ts';
import { sessionAnswer, setSession } from '../sessions/operations.ts';
import { session } from '../sessions/require-session.ts';
import { requestEmailChange } from './email-change.ts';
import { changePassword, requestPasswordReset, resetPassword } from './password-changes.ts';
import type { SignUpPlan } from './people.ts';
import { sendSignUpAgain, signUp, verifyEmail } from './sign-up.ts';
import { sessionSchema } from '../sessions/answers.ts';
import type { SessionCookie } from '../sessions/session-cookie.ts';
import { acceptedSchema, signUpSettingSchema, verifiedSchema } from './answers.ts';
import { addressSchema } from '../accounts/input.ts';
import {
  emailChangeSchema,
  newPasswordSchema,
  passwordChangeSchema,
  profileSchema,
  signUpSchema,
  verificationSchema,
} from './input.ts';

type SignUpSetting = { signUpEnabled: boolean };

const BY_MAIL = {
  description:
    'Accepted. The next step arrives by email. The response is the same whether or not the address has an account.',
  schema: acceptedSchema,
  example: {},
} satisfies Answer;

const SIGN_UP_SETTING = { enabled: true, offer: { plan_name: 'Trial', points_limit: 10_000, days: 14 } };

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery staple';
const TOKEN = 'b3J2aWxsZS13cmlnaHQtYW5kLXdpbGJ1ci13cmlnaHQ';

export const ownerPeople = {
  title: 'People',
  description: 'Sign-up, and the name, password and email address of an account.',
  operations: [
    operation('GET /api/console/sign-up', {
      operationId: 'getSignUpSetting',
      summary: 'Get whether sign-up is enabled, and what a new account gets',
      caller: anyone,
      answers: {
        200: { description: 'The setting.', schema: signUpSettingSchema, example: SIGN_UP_SETTING },
      },
      handle: async ({
        signUpEnabled,
        signUpPlan,
        query,
      }: SignUpSetting & { signUpPlan: SignUpPlan | null; query: Query }) => ({
        enabled: signUpEnabled,
        offer: signUpEnabled && signUpPlan !== null ? await signUpPlan.offer(query) : null,
      }),
    }),
    operation('POST /api/console/sign-up', {
      operationId: 'signUp',
      summary: 'Sign up',
      description: 'Sends a confirmation link by email. Returns `forbidden` if sign-up is disabled.',
      caller: anyone,
      guard: requireSignUpEnabled,
      body: signUpSchema,
      example: { email: EMAIL, name: 'Ada' },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
      handle: async (needs: Parameters<typeof signUp>[0], { body, req, res }) => {
        await signUp(needs, body, callerOf(req, res));
        return {};
      },
    }),
    operation('POST /api/console/sign-up/resend', {
      operationId: 'resendSignUp',
      summary: 'Resend the confirmation link',
      description: 'Sends a confirmation link by email. Returns `forbidden` if sign-up is disabled.',
      caller: anyone,
      guard: requireSignUpEnabled,
      body: addressSchema,
      example: { email: EMAIL },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
      handle: async (needs: Parameters<typeof sendSignUpAgain>[0], { body, req, res }) => {
        await sendSignUpAgain(needs, body.email, callerOf(req, res));
        return {};
      },
    }),
    operation('POST /api/console/verify-email', {
      operationId: 'verifyEmail',
      summary: 'Confirm an email address',
      description:
        'Takes the token from the email. After a sign-up, also takes the password of the new account; the link stays ' +
        'valid if the password is refused. Does not sign in.',
      caller: anyone,
      body: verificationSchema,
      example: { token: TOKEN, password: PASSWORD },
      answers: { 200: { description: 'Confirmed.', schema: verifiedSchema, example: { email: EMAIL } } },
      handle: async (needs: Parameters<typeof verifyEmail>[0], { body, req, res }) => ({
        email: await verifyEmail(needs, body, callerOf(req, res)),
      }),
    }),
    operation('POST /api/console/password-reset', {
      operationId: 'requestPasswordReset',
      summary: 'Request a password reset',
      caller: anyone,
      body: addressSchema,
      example: { email: EMAIL },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
      handle: async (needs: Parameters<typeof requestPasswordReset>[0], { body, req, res }) => {
        await requestPasswordReset(needs, body.email, callerOf(req, res));
        return {};
      },
    }),
    operation('POST /api/console/password-reset/confirm', {
      operationId: 'resetPassword',
      summary: 'Set a new password',
      description: 'Takes the token from the email, and ends all sessions of the account.',
      caller: anyone,
      body: newPasswordSchema,
      example: { token: TOKEN, password: PASSWORD },
      answers: { 204: { description: 'The password was set.' } },
      problems: ['too_many_requests'],
      handle: (needs: Parameters<typeof resetPassword>[0], { body, req, res }) =>
        resetPassword(needs, body, callerOf(req, res)),
    }),
    operation('PATCH /api/console/account', {
      operationId: 'changeProfile',
      summary: 'Change the account name',
      caller: session,
      body: profileSchema,
      example: { name: 'Ada Lovelace' },
      answers: { 200: { description: 'The session.', schema: sessionSchema } },
      handle: async ({ transact }: { transact: Transact }, { by, body: { name } }) => {
        const { account_id, actor } = by;
        const account = await transact(async (inside) => {
          const before = await lockAccount(inside, account_id);
          if (before === undefined) throw new Problem('unauthorized');
          if (before.name === name) return before;
          await setName(inside, account_id, name);
          const details = { name_before: before.name, name };
          const entry = { ...actor, application_id: null, account_id, details };
          await recordAudit(inside, { ...entry, action: 'account_changed' });
          return { ...before, name };
        });
        return sessionAnswer({ token: by.token, session: { ...by.session, account } });
      },
    }),
    operation('PUT /api/console/account/password', {
      operationId: 'changePassword',
      summary: 'Change the password',
      description: 'Ends all other sessions, and sets a new session cookie.',
      caller: session,
      body: passwordChangeSchema,
      example: { current_password: PASSWORD, new_password: 'another horse, another battery' },
      answers: {
        200: {
          description: 'The new session.',
          schema: sessionSchema,
          headers: { 'Set-Cookie': "The session's cookie." },
        },
      },
      problems: ['too_many_requests'],
      handle: async (
        needs: Parameters<typeof changePassword>[0] & { cookie: SessionCookie },
        { by, body, req, res },
      ) => {
        const caller = callerOf(req, res);
        const origin = { address: caller.address, userAgent: req.get('user-agent') ?? '' };
        return setSession(res, needs.cookie, await changePassword(needs, by, body, origin, caller));
      },
    }),
    operation('POST /api/console/account/email', {
      operationId: 'changeEmail',
      summary: 'Request a change of the email address',
      description:
        'The new address applies once the link sent to it is used. The old address is then notified.',
      caller: session,
      body: emailChangeSchema,
      example: { email: EMAIL, current_password: PASSWORD },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
      handle: async (needs: Parameters<typeof requestEmailChange>[0], { by, body, req, res }) => {
        await requestEmailChange(needs, by, body, callerOf(req, res));
        return {};
      },
    }),
  ],
} satisfies Chapter;

function requireSignUpEnabled({ signUpEnabled }: SignUpSetting): void {
  if (!signUpEnabled) throw new Problem('forbidden', { detail: 'Sign-up is disabled.' });
}
