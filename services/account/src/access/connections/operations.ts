import { z } from 'zod';
import {
  codeExchangeSchema,
  grantAnswerSchema,
  grantEndSchema,
  refreshSchema,
} from '@tollgate/contracts/grants';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { delivered, id, instant } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { service } from '../../platform/audit/private-callers.ts';
import type { Connections } from './connections.ts';

type Needs = { connections: Connections };

export const connectionSchema = z
  .object({
    connection_id: id.meta({ description: 'Usage and refused calls have it as the application ID.' }),
    name: z.string().meta({ description: 'Of the application.' }),
    client_id: z
      .string()
      .meta({ description: 'A UUID, or the address of a document about the application.' }),
    developer: z.string().nullable().meta({
      description: 'The name of the account that the application belongs to; null if it registered itself.',
    }),
    is_verified: z.boolean().meta({ description: 'Whether an operator has verified the application.' }),
    redirect_host: z
      .string()
      .nullable()
      .meta({ description: 'Where the application runs; null for one on the person’s own device.' }),
    scope: z.string().meta({ description: 'What it may do, as words: `api`, `mcp`, `mcp:write`.' }),
    created_at: instant,
    last_used_at: instant.nullable().meta({ description: 'The last call, to the minute.' }),
    expires_at: instant.meta({ description: 'When it has to be authorized again.' }),
    points_usage: z.int().meta({ description: 'Points used in the last 30 days.' }),
  })
  .meta({ id: 'Connection' });

export const ownerConnections = {
  title: 'Connected applications',
  description: 'The applications that act for this account because its owner has authorized them.',
  operations: [
    operation('GET /api/console/connections', {
      operationId: 'listConnections',
      summary: 'List the connected applications, newest first',
      description: 'An application on several devices is listed for each of them, 20 times at most.',
      caller: session,
      answers: {
        200: { description: 'All of them.', schema: z.object({ connections: z.array(connectionSchema) }) },
      },
      handle: async ({ connections }: Needs, { by }) => ({
        connections: await connections.list(by.account_id),
      }),
    }),
    operation('DELETE /api/console/connections/{connection_id}', {
      operationId: 'endConnection',
      summary: 'Disconnect an application',
      description: 'Its access tokens and refresh tokens stop working, and its open subscriptions end.',
      caller: session,
      params: z.object({ connection_id: idParameter }),
      answers: { 200: { description: 'Disconnected.', schema: z.object({ delivered }) } },
      handle: ({ connections }: Needs, { by, params: { connection_id } }) =>
        connections.endByOwner({ application_id: connection_id, account_id: by.account_id }, by.actor),
    }),
  ],
} satisfies Chapter;

const CLIENT_ID = '0b7c1f9e-5a49-4b0e-9a53-6f1c2d3e4f50';
const CONNECTION = '5a2f4c1e-8d0b-4f6a-b1c3-2e9d7a6b5c40';
const HASH = 'VhXq6mI7mQzOQjZ0oWn3gqk0f3yqZpZc2yK9r5sB7aE';
const NONCE = 'kq2Zc7aE3gqk0f3yqZpVhXq6mI7mQzOQjZ0oWny9r5s';
const granted = { 200: { description: 'What was granted, or why nothing.', schema: grantAnswerSchema } };

export const serviceGrants = {
  title: 'Grants',
  description: 'For auth: authorization codes and refresh tokens, of which account knows hashes only.',
  operations: [
    operation('POST /private/grants/exchange', {
      operationId: 'exchangeAuthorizationCode',
      summary: 'Exchange an authorization code for a connection',
      description:
        'The code works once. A used code that comes again with its verifier ends the connection that it became.',
      caller: service,
      body: codeExchangeSchema,
      example: {
        client_id: CLIENT_ID,
        code_hash: HASH,
        redirect_uri: 'https://app.example/callback',
        code_challenge: NONCE,
        connection_client_id: CONNECTION,
        refresh_token_hash: HASH,
        address: '203.0.113.7',
      },
      answers: granted,
      handle: ({ connections }: Needs, { by, body }) =>
        connections.exchange(body, clientActor(by.actor, body)),
    }),
    operation('POST /private/grants/refresh', {
      operationId: 'rotateRefreshToken',
      summary: 'Rotate a refresh token',
      description:
        'A repetition within 30 seconds gets the nonce of the first time, while the successor hasn’t been used. Any ' +
        'other use of a rotated token ends the connection.',
      caller: service,
      body: refreshSchema,
      example: {
        client_id: CLIENT_ID,
        connection_client_id: CONNECTION,
        refresh_token_hash: HASH,
        nonce: NONCE,
        successor_hash: HASH,
        address: '203.0.113.7',
      },
      answers: granted,
      handle: ({ connections }: Needs, { by, body }) =>
        connections.refresh(body, clientActor(by.actor, body)),
    }),
    operation('POST /private/grants/end', {
      operationId: 'endGrant',
      summary: 'End a connection whose token its application has revoked (RFC 7009)',
      description: 'Idempotent; a connection of another application stays.',
      caller: service,
      body: grantEndSchema,
      example: { client_id: CLIENT_ID, connection_client_id: CONNECTION, address: '203.0.113.7' },
      answers: { 204: { description: 'Committed.' } },
      handle: ({ connections }: Needs, { by, body }) =>
        connections.endByApplication(body, clientActor(by.actor, body)),
    }),
  ],
} satisfies Chapter;

function clientActor(by: Actor, { client_id, address }: { client_id: string; address: string }): Actor {
  return { ...by, actor: `client:${client_id}`, address };
}
