import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead } from '../../http/input/page.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { operatorAccess, ownerAccess } from '../applications/access.ts';
import type { Access } from '../applications/access.ts';
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
import type { Token, Tokens } from './tokens.ts';

type Needs = { tokens: Tokens };

export const ownerTokens = {
  title: 'Tokens',
  description: 'Manual access tokens, and the temporary token, which needs no application.',
  operations: tokenOperations(ownerAccess),
} satisfies Chapter;

export const operatorTokens = {
  title: 'Tokens',
  description: 'Manual access tokens of all accounts, and their temporary tokens.',
  operations: tokenOperations(operatorAccess),
} satisfies Chapter;

function tokenOperations<By extends { actor: Actor }>(access: Access<By>) {
  const { caller, ownerOf, account, mayCreate, refusals } = access;
  const path = `${access.path}/applications/{application_id}/tokens` as const;
  const ofApplication = z.object({ application_id: idParameter });
  const ofToken = ofApplication.extend({ token_id: idParameter });
  return [
    operation(`GET ${account.path}/tokens`, {
      operationId: 'listTokens',
      summary: 'List the manual tokens of all applications, newest first',
      caller,
      roles: ['viewer'],
      params: account.params,
      query: accountTokenListSchema,
      answers: { 200: { description: 'One page.', schema: accountTokenPageSchema } },
      handle: async ({ tokens }: Needs, { by, params, query }) => {
        const { status = null, search = null, application_id = null } = query;
        const filter = { ...lookAhead(query), status, search, application_id };
        const found = await tokens.ofAccount(account.idOf(by, params), filter);
        const { rows, next_cursor } = cutPage(found, query, ({ token_id }) => token_id);
        return {
          tokens: rows.map((token) => ({ ...answer(token), application_name: token.application_name })),
          next_cursor,
        };
      },
    }),
    operation(`GET ${path}`, {
      operationId: 'listApplicationTokens',
      summary: "List an application's manual tokens, newest first",
      caller,
      roles: ['viewer'],
      params: ofApplication,
      query: tokenListSchema,
      answers: { 200: { description: 'One page.', schema: tokenPageSchema } },
      handle: async ({ tokens }: Needs, { by, params: { application_id }, query }) => {
        const { status = null, search = null } = query;
        const key = { application_id, owner_id: ownerOf(by) };
        const found = await tokens.ofApplication(key, { ...lookAhead(query), status, search });
        const { rows, next_cursor } = cutPage(found, query, ({ token_id }) => token_id);
        return { tokens: rows.map(answer), next_cursor };
      },
    }),
    operation(`POST ${path}`, {
      operationId: 'issueToken',
      summary: 'Create a manual token',
      description: "It expires after the application's token lifespan.",
      caller,
      roles: ['admin'],
      guard: mayCreate,
      params: ofApplication,
      body: newTokenSchema,
      example: { name: 'For the notebook' },
      answers: { 201: { description: 'The token.', schema: issuedTokenSchema } },
      problems: [...refusals, 'application_revoked', 'token_limit_reached'],
      handle: async ({ tokens }: Needs, { by, params: { application_id }, body: { name } }) => {
        const wanted = { application_id, owner_id: ownerOf(by), name };
        const { token, access_token, delivered } = await tokens.issue(wanted, by.actor);
        return { ...answer(token), access_token, delivered };
      },
    }),
    operation(`POST ${path}/{token_id}/copy`, {
      operationId: 'copyToken',
      summary: 'Get the token itself again',
      caller,
      roles: ['admin'],
      params: ofToken,
      answers: { 200: { description: 'The token.', schema: copiedTokenSchema } },
      problems: ['token_not_active'],
      handle: async ({ tokens }: Needs, { by, params }) => {
        const { token, access_token } = await tokens.copy({ ...params, owner_id: ownerOf(by) }, by.actor);
        return { ...answer(token), access_token };
      },
    }),
    operation(`POST ${path}/{token_id}/revoke`, {
      operationId: 'revokeToken',
      summary: 'Revoke a manual token',
      caller,
      roles: ['support'],
      params: ofToken,
      answers: { 200: { description: 'The token record.', schema: revokedTokenSchema } },
      // Repeating it tells auth again.
      handle: async ({ tokens }: Needs, { by, params }) => {
        const { token, delivered } = await tokens.revoke({ ...params, owner_id: ownerOf(by) }, by.actor);
        return { ...answer(token), delivered };
      },
    }),
    operation(`GET ${account.path}/temporary-token`, {
      operationId: 'getTemporaryTokenExpiry',
      summary: 'Get when the temporary token expires',
      description: 'Neither creates one nor returns it.',
      caller,
      roles: ['viewer'],
      params: account.params,
      answers: { 200: { description: 'Its expiry.', schema: temporaryTokenEndSchema } },
      handle: async ({ tokens }: Needs, { by, params }) => ({
        expires_at: await tokens.temporaryEnd(account.idOf(by, params)),
      }),
    }),
    operation(`POST ${account.path}/temporary-token`, {
      operationId: 'getTemporaryToken',
      summary: 'Get the temporary token',
      description:
        'Creates one if none is active. It is valid for 12 hours, and the same one is returned until then, unless ' +
        'the account’s sessions end: a change or reset of the password, signing out everywhere, the end of another ' +
        'session and a new second factor end it.',
      caller,
      roles: ['admin'],
      guard: mayCreate,
      params: account.params,
      answers: { 200: { description: 'The token.', schema: temporaryTokenSchema } },
      problems: ['account_blocked', ...refusals],
      handle: ({ tokens }: Needs, { by, params }) => tokens.temporary(account.idOf(by, params), by.actor),
    }),
    operation(`DELETE ${account.path}/temporary-token`, {
      operationId: 'revokeTemporaryToken',
      summary: 'Revoke the temporary token',
      description: 'The next request for it creates another one. Succeeds also if there is none.',
      caller,
      roles: ['support'],
      params: account.params,
      answers: { 200: { description: 'Revoked.', schema: deliveredSchema } },
      handle: ({ tokens }: Needs, { by, params }) =>
        tokens.revokeTemporary(account.idOf(by, params), by.actor),
    }),
  ];
}

function answer(token: Token): Token {
  const { token_id, application_id, name, status, issued_at, expires_at, revoked_at, last_used_at } = token;
  return { token_id, application_id, name, status, issued_at, expires_at, revoked_at, last_used_at };
}
