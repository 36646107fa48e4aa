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
    'A mail says how it goes on; the answer is the same whether the address has an account or not.',
  schema: acceptedSchema,
  example: {},
};

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery staple';
const TOKEN = 'b3J2aWxsZS13cmlnaHQtYW5kLXdpbGJ1ci13cmlnaHQ';

export const peopleApi: ApiChapter = {
  title: 'People',
  description: "Signing up, and one's name, password and e-mail address.",
  operations: {
    'GET /api/console/sign-up': {
      operationId: 'getSignUpSetting',
      summary: 'Whether sign-up is switched on',
      caller: 'anyone',
      answers: {
        200: { description: 'The setting.', schema: signUpSettingSchema, example: { enabled: true } },
      },
    },
    'POST /api/console/sign-up': {
      operationId: 'signUp',
      summary: 'Signs up, by a link in a mail',
      description: '`forbidden` where sign-up is switched off.',
      caller: 'anyone',
      body: signUpSchema,
      example: { email: EMAIL, name: 'Ada', password: PASSWORD },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
    },
    'POST /api/console/sign-up/resend': {
      operationId: 'resendSignUp',
      summary: 'Sends the link of a sign-up again',
      description: '`forbidden` where sign-up is switched off.',
      caller: 'anyone',
      body: addressSchema,
      example: { email: EMAIL },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
    },
    'POST /api/console/verify-email': {
      operationId: 'verifyEmail',
      summary: 'Confirms an e-mail address by the token of its mail',
      description:
        'Of a sign-up, together with the password chosen there; or of a change of address, by the token alone. ' +
        'The link stays good when the password is refused. Sign in afterwards.',
      caller: 'anyone',
      body: verificationSchema,
      example: { token: TOKEN, password: PASSWORD },
      answers: { 200: { description: 'Confirmed.', schema: verifiedSchema, example: { email: EMAIL } } },
      problems: ['too_many_requests'],
    },
    'POST /api/console/password-reset': {
      operationId: 'requestPasswordReset',
      summary: 'Asks for a link to set a new password',
      caller: 'anyone',
      body: addressSchema,
      example: { email: EMAIL },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
    },
    'POST /api/console/password-reset/confirm': {
      operationId: 'resetPassword',
      summary: 'Sets a new password by the token of the mail',
      description: 'All sessions of the account end.',
      caller: 'anyone',
      body: newPasswordSchema,
      example: { token: TOKEN, password: PASSWORD },
      answers: { 204: { description: 'The password is set.' } },
      problems: ['too_many_requests'],
    },
    'PATCH /api/console/account': {
      operationId: 'changeProfile',
      summary: "Changes one's name",
      caller: 'session',
      body: profileSchema,
      example: { name: 'Ada Lovelace' },
      answers: { 200: { description: 'The session.', schema: sessionSchema } },
    },
    'PUT /api/console/account/password': {
      operationId: 'changePassword',
      summary: "Changes one's password",
      description: 'All other sessions end, and this one gets a new cookie.',
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
      summary: 'Asks for another e-mail address',
      description: 'It counts when the link of its mail is used; the old address is told then.',
      caller: 'session',
      body: emailChangeSchema,
      example: { email: EMAIL, current_password: PASSWORD },
      answers: { 202: BY_MAIL },
      problems: ['too_many_requests'],
    },
  },
};
