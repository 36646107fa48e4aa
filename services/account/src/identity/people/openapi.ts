import type { Answer, ApiChapter } from '../../http/operation.ts';
import { sessionSchema } from '../sessions/answers.ts';
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

const BY_MAIL: Answer = {
  description:
    'Accepted. The next step arrives by email. The response is the same whether or not the address has an account.',
  schema: acceptedSchema,
  example: {},
};

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery staple';
const TOKEN = 'b3J2aWxsZS13cmlnaHQtYW5kLXdpbGJ1ci13cmlnaHQ';

export const peopleApi: ApiChapter = {
  title: 'People',
  description: 'Sign-up, and the name, password and email address of an account.',
  operations: {
    'GET /api/console/sign-up': {
      operationId: 'getSignUpSetting',
      summary: 'Get whether sign-up is enabled',
      caller: 'anyone',
      answers: {
        200: { description: 'The setting.', schema: signUpSettingSchema, example: { enabled: true } },
      },
    },
    'POST /api/console/sign-up': {
      operationId: 'signUp',
      summary: 'Sign up',
      description: 'Sends a confirmation link by email. Returns `forbidden` if sign-up is disabled.',
      caller: 'anyone',
      body: signUpSchema,
      example: { email: EMAIL, name: 'Ada', password: PASSWORD },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
    },
    'POST /api/console/sign-up/resend': {
      operationId: 'resendSignUp',
      summary: 'Resend the confirmation link',
      description: 'Sends a confirmation link by email. Returns `forbidden` if sign-up is disabled.',
      caller: 'anyone',
      body: addressSchema,
      example: { email: EMAIL },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
    },
    'POST /api/console/verify-email': {
      operationId: 'verifyEmail',
      summary: 'Confirm an email address',
      description:
        'Takes the token from the email. After a sign-up, also takes the password chosen there; the link stays ' +
        'valid if that password is wrong. Does not sign in.',
      caller: 'anyone',
      body: verificationSchema,
      example: { token: TOKEN, password: PASSWORD },
      answers: { 200: { description: 'Confirmed.', schema: verifiedSchema, example: { email: EMAIL } } },
      problems: ['too_many_requests'],
    },
    'POST /api/console/password-reset': {
      operationId: 'requestPasswordReset',
      summary: 'Request a password reset',
      caller: 'anyone',
      body: addressSchema,
      example: { email: EMAIL },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
    },
    'POST /api/console/password-reset/confirm': {
      operationId: 'resetPassword',
      summary: 'Set a new password',
      description: 'Takes the token from the email, and ends all sessions of the account.',
      caller: 'anyone',
      body: newPasswordSchema,
      example: { token: TOKEN, password: PASSWORD },
      answers: { 204: { description: 'The password was set.' } },
      problems: ['too_many_requests'],
    },
    'PATCH /api/console/account': {
      operationId: 'changeProfile',
      summary: 'Change the account name',
      caller: 'session',
      body: profileSchema,
      example: { name: 'Ada Lovelace' },
      answers: { 200: { description: 'The session.', schema: sessionSchema } },
    },
    'PUT /api/console/account/password': {
      operationId: 'changePassword',
      summary: 'Change the password',
      description: 'Ends all other sessions, and sets a new session cookie.',
      caller: 'session',
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
    },
    'POST /api/console/account/email': {
      operationId: 'changeEmail',
      summary: 'Request a change of the email address',
      description:
        'The new address applies once the link sent to it is used. The old address is then notified.',
      caller: 'session',
      body: emailChangeSchema,
      example: { email: EMAIL, current_password: PASSWORD },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
    },
  },
};
