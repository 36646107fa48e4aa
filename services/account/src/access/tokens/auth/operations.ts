import { z } from 'zod';
import { revokedTokensSchema, tokenHashSchema } from '@tollgate/contracts/client-record';
import {
  MAX_USES_PER_REPORT,
  clientPageSchema,
  clientRevocationSchema,
  tokenUsesSchema,
} from '@tollgate/contracts/manual-tokens';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { describedAs } from '../../../http/input/described-as.ts';
import { service } from '../../../platform/audit/private-callers.ts';
import type { Query } from '../../../platform/database/query.ts';
import { clientsWithLiveTokens, noteUses } from '../store.ts';
import type { Tokens } from '../tokens.ts';
import { revokedAfter } from './revoked.ts';

type ReadNeeds = { query: Query };

const PAGE = 500;

/** auth deletes this many keys from Redis at once. */
const REVOKED_PAGE = 1_000;

/** A use is some 80 bytes. */
const MAX_USES_BYTES = MAX_USES_PER_REPORT * 128;

const WANTED_ID = 'must be a whole number';

const afterId = describedAs(
  z
    .string(WANTED_ID)
    .regex(/^\d{1,16}$/, WANTED_ID)
    .transform(Number)
    .refine(Number.isSafeInteger, WANTED_ID),
  {
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: '`next_after` of the page before, or 0.',
  },
);

const afterHash = z
  .union([z.literal(''), tokenHashSchema], 'must be a hash, or empty')
  .meta({ description: '`next_after` of the page before, or empty.' });

const TOKEN_HASH = 'VhXq6mI7mQzOQjZ0oWn3gqk0f3yqZpZc2yK9r5sB7aE';

export const serviceTokens = {
  title: 'Tokens',
  description: 'For auth: manual tokens, and issued tokens that their clients have revoked.',
  operations: [
    operation('GET /private/manual-tokens/clients', {
      operationId: 'listClientsWithManualTokens',
      summary: 'List the clients with live manual tokens',
      caller: service,
      query: z.object({ after: afterId }),
      answers: { 200: { description: 'One page.', schema: clientPageSchema } },
      handle: async ({ query: read }: ReadNeeds, { query: { after } }) => {
        const found = await clientsWithLiveTokens(read, { after, limit: PAGE }, new Date());
        return {
          client_ids: found.map(({ client_id }) => client_id),
          next_after: found.length === PAGE ? (found.at(-1)?.application_id ?? null) : null,
        };
      },
    }),
    operation('POST /private/manual-tokens/uses', {
      operationId: 'reportTokenUses',
      summary: 'Report when manual tokens were last used',
      description: 'Idempotent. Unknown tokens are ignored.',
      caller: service,
      body: tokenUsesSchema,
      maxBodyBytes: MAX_USES_BYTES,
      example: { uses: [{ token_hash: TOKEN_HASH, used_at: 1_795_780_800 }] },
      answers: { 204: { description: 'Stored.' } },
      handle: ({ query }: ReadNeeds, { body: { uses } }) => noteUses(query, uses),
    }),
    operation('GET /private/clients/{client_id}/revoked-tokens', {
      operationId: 'listRevokedTokens',
      summary: 'List the issued tokens that a client has revoked one by one',
      caller: service,
      params: z.object({ client_id: z.uuid() }),
      query: z.object({ after: afterHash }),
      answers: { 200: { description: 'One page, by hash.', schema: revokedTokensSchema } },
      handle: async ({ query: read }: ReadNeeds, { params: { client_id }, query: { after } }) => {
        const found = await revokedAfter(read, client_id, { after, limit: REVOKED_PAGE });
        return {
          token_hashes: found,
          next_after: found.length === REVOKED_PAGE ? (found.at(-1) ?? null) : null,
        };
      },
    }),
    operation('POST /private/clients/{client_id}/revoked-tokens', {
      operationId: 'recordRevokedToken',
      summary: 'Record that a client has revoked its own token (RFC 7009)',
      description: 'Idempotent. The audit log names the client for a manual token.',
      caller: service,
      params: z.object({ client_id: z.uuid().toLowerCase() }),
      body: clientRevocationSchema,
      example: { token_hash: TOKEN_HASH, expires_at: 1_795_780_800, address: '203.0.113.7' },
      answers: { 204: { description: 'Committed.' } },
      handle: (
        { tokens }: { tokens: Pick<Tokens, 'revokeOfClient'> },
        { by, params: { client_id }, body: { token_hash, expires_at, address } },
      ) =>
        tokens.revokeOfClient(
          client_id,
          { token_hash, expiresAt: expires_at === undefined ? null : new Date(expires_at * 1_000) },
          { ...by.actor, actor: `client:${client_id}`, address },
        ),
    }),
  ],
} satisfies Chapter;
