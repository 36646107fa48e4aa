import { z } from 'zod';
import type { ApiChapter } from '../../http/operation.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import {
  copiedTokenSchema,
  deliveredSchema,
  issuedTokenSchema,
  revokedTokenSchema,
  temporaryTokenSchema,
  tokenPageSchema,
} from './answers.ts';
import { newTokenSchema, tokenListSchema } from './input.ts';

const ofApplication = z.object({ application_id: idParameter });
const ofToken = ofApplication.extend({ token_id: idParameter });

export const tokenApi: ApiChapter = {
  title: 'Tokens',
  description: 'Access tokens made by hand, and the temporary one that needs no application.',
  operations: {
    'GET /api/console/tokens': {
      operationId: 'listTokens',
      summary: "The tokens of all of one's applications, newest first",
      caller: 'session',
      query: tokenListSchema,
      answers: { 200: { description: 'One page.', schema: tokenPageSchema } },
    },
    'GET /api/console/applications/{application_id}/tokens': {
      operationId: 'listApplicationTokens',
      summary: "An application's tokens made by hand, newest first",
      caller: 'session',
      params: ofApplication,
      query: tokenListSchema,
      answers: { 200: { description: 'One page.', schema: tokenPageSchema } },
    },
    'POST /api/console/applications/{application_id}/tokens': {
      operationId: 'issueToken',
      summary: 'Makes a token',
      description: "It lives for the application's lifespan.",
      caller: 'session',
      params: ofApplication,
      body: newTokenSchema,
      example: { name: 'For the notebook' },
      answers: { 201: { description: 'The token.', schema: issuedTokenSchema } },
      problems: ['account_blocked', 'application_revoked', 'token_limit_reached'],
    },
    'POST /api/console/applications/{application_id}/tokens/{token_id}/copy': {
      operationId: 'copyToken',
      summary: 'Shows a token once more',
      caller: 'session',
      params: ofToken,
      answers: { 200: { description: 'The token.', schema: copiedTokenSchema } },
      problems: ['token_not_active'],
    },
    'POST /api/console/applications/{application_id}/tokens/{token_id}/revoke': {
      operationId: 'revokeToken',
      summary: 'Revokes a token',
      caller: 'session',
      params: ofToken,
      answers: { 200: { description: 'Its record.', schema: revokedTokenSchema } },
    },
    'POST /api/console/temporary-token': {
      operationId: 'getTemporaryToken',
      summary: "The account's token of 12 hours",
      description: 'The same for its whole 12 hours, then another.',
      caller: 'session',
      answers: { 200: { description: 'The token.', schema: temporaryTokenSchema } },
      problems: ['account_blocked'],
    },
    'DELETE /api/console/temporary-token': {
      operationId: 'revokeTemporaryToken',
      summary: 'Ends the temporary token',
      description: 'The next request for it gives another one. The same where there is none.',
      caller: 'session',
      answers: { 200: { description: 'It has ended.', schema: deliveredSchema } },
    },
  },
};
