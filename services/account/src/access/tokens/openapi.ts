import { z } from 'zod';
import type { ApiChapter } from '../../http/operation.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import {
  accountTokenPageSchema,
  copiedTokenSchema,
  deliveredSchema,
  issuedTokenSchema,
  revokedTokenSchema,
  temporaryTokenEndSchema,
  temporaryTokenSchema,
  tokenPageSchema,
} from './answers.ts';
import { accountTokenListSchema, newTokenSchema, tokenListSchema } from './input.ts';

const ofApplication = z.object({ application_id: idParameter });
const ofToken = ofApplication.extend({ token_id: idParameter });

export const tokenApi: ApiChapter = {
  title: 'Tokens',
  description: 'Manual access tokens, and the temporary token, which needs no application.',
  operations: {
    'GET /api/console/tokens': {
      operationId: 'listTokens',
      summary: 'List the manual tokens of all applications, newest first',
      caller: 'session',
      query: accountTokenListSchema,
      answers: { 200: { description: 'One page.', schema: accountTokenPageSchema } },
    },
    'GET /api/console/applications/{application_id}/tokens': {
      operationId: 'listApplicationTokens',
      summary: "List an application's manual tokens, newest first",
      caller: 'session',
      params: ofApplication,
      query: tokenListSchema,
      answers: { 200: { description: 'One page.', schema: tokenPageSchema } },
    },
    'POST /api/console/applications/{application_id}/tokens': {
      operationId: 'issueToken',
      summary: 'Create a manual token',
      description: "It expires after the application's token lifespan.",
      caller: 'session',
      params: ofApplication,
      body: newTokenSchema,
      example: { name: 'For the notebook' },
      answers: { 201: { description: 'The token.', schema: issuedTokenSchema } },
      problems: ['account_blocked', 'application_revoked', 'token_limit_reached'],
    },
    'POST /api/console/applications/{application_id}/tokens/{token_id}/copy': {
      operationId: 'copyToken',
      summary: 'Get the token itself again',
      caller: 'session',
      params: ofToken,
      answers: { 200: { description: 'The token.', schema: copiedTokenSchema } },
      problems: ['token_not_active'],
    },
    'POST /api/console/applications/{application_id}/tokens/{token_id}/revoke': {
      operationId: 'revokeToken',
      summary: 'Revoke a manual token',
      caller: 'session',
      params: ofToken,
      answers: { 200: { description: 'The token record.', schema: revokedTokenSchema } },
    },
    'GET /api/console/temporary-token': {
      operationId: 'getTemporaryTokenExpiry',
      summary: 'Get when the temporary token expires',
      description: 'Neither creates one nor returns it.',
      caller: 'session',
      answers: { 200: { description: 'Its expiry.', schema: temporaryTokenEndSchema } },
    },
    'POST /api/console/temporary-token': {
      operationId: 'getTemporaryToken',
      summary: 'Get the temporary token',
      description:
        'Creates one if none is active. It is valid for 12 hours, and the same one is returned until then, unless ' +
        'the account’s sessions end: a change or reset of the password, signing out everywhere, the end of another ' +
        'session and a new second factor end it.',
      caller: 'session',
      answers: { 200: { description: 'The token.', schema: temporaryTokenSchema } },
      problems: ['account_blocked'],
    },
    'DELETE /api/console/temporary-token': {
      operationId: 'revokeTemporaryToken',
      summary: 'Revoke the temporary token',
      description: 'The next request for it creates another one. Succeeds also if there is none.',
      caller: 'session',
      answers: { 200: { description: 'Revoked.', schema: deliveredSchema } },
    },
  },
};
