import { json } from 'express';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import {
  MAX_USES_PER_REPORT,
  clientRevocationSchema,
  tokenUsesSchema,
} from '@tollgate/contracts/manual-tokens';
import type { ClientPage } from '@tollgate/contracts/manual-tokens';
import { tokenHashSchema } from '@tollgate/contracts/client-record';
import type { RevokedTokens } from '@tollgate/contracts/client-record';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { Problem } from '@tollgate/http/problem';
import type { Query } from '../../../platform/database/query.ts';
import { bodyOf } from '../../../http/input/json-body.ts';
import { revokedAfter } from './revoked.ts';
import { clientsWithLiveTokens, noteUses } from '../store.ts';
import type { Tokens } from '../tokens.ts';

const PAGE = 500;

/** auth deletes this many keys from Redis at once. */
const REVOKED_PAGE = 1_000;

/** A use is some 80 bytes. Compressed bodies are refused: a small bomb would pass the limit. */
export const readUses = json({ type: 'application/json', limit: MAX_USES_PER_REPORT * 128, inflate: false });

const afterSchema = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform(Number)
  .refine(Number.isSafeInteger);

/**
 * `GET /private/manual-tokens/clients?after=…`: 200 with a ClientPage; 400 unless `after` is a whole
 * number.
 */
export function clientPageEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const after = afterSchema.safeParse(req.query['after']);
    if (!after.success) throw new Problem('invalid_request', { detail: 'after must be a whole number.' });
    const found = await clientsWithLiveTokens(query, { after: after.data, limit: PAGE }, new Date());
    const page: ClientPage = {
      client_ids: found.map(({ client_id }) => client_id),
      next_after: found.length === PAGE ? (found.at(-1)?.application_id ?? null) : null,
    };
    res.json(page);
  };
}

/** `POST /private/manual-tokens/uses` with TokenUses: 204. 400 `invalid_request`, 413 or 415. */
export function tokenUsesEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    await noteUses(query, bodyOf(req, tokenUsesSchema).uses);
    res.status(204).end();
  };
}

/**
 * `POST /private/clients/{client_id}/revoked-tokens` with a ClientRevocation: 204 once committed, also if it
 * was revoked already. The audit log names the client for a manual token. 400 `invalid_request`, 413 or 415.
 */
export function clientRevocationEndpoint({ revokeOfClient }: Pick<Tokens, 'revokeOfClient'>): RequestHandler {
  return async (req, res) => {
    const clientId = z.uuid().toLowerCase().safeParse(req.params['client_id']);
    if (!clientId.success) throw new Problem('not_found');
    const { token_hash, expires_at, address } = bodyOf(req, clientRevocationSchema);
    const expiresAt = expires_at === undefined ? null : new Date(expires_at * 1_000);
    await revokeOfClient(
      clientId.data,
      { token_hash, expiresAt },
      {
        actor: `client:${clientId.data}`,
        address,
        request_id: res.get(REQUEST_ID_HEADER) ?? 'unknown',
      },
    );
    res.status(204).end();
  };
}

const afterHashSchema = z.union([z.literal(''), tokenHashSchema]);

/**
 * `GET /private/clients/{client_id}/revoked-tokens?after=…`: 200 with RevokedTokens, issued tokens only. 400
 * `invalid_request` unless `after` is a hash or empty.
 */
export function revokedTokensEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const clientId = z.uuid().safeParse(req.params['client_id']);
    if (!clientId.success) throw new Problem('not_found');
    const after = afterHashSchema.safeParse(req.query['after']);
    if (!after.success) throw new Problem('invalid_request', { detail: 'after must be a hash, or empty.' });
    const found = await revokedAfter(query, clientId.data, { after: after.data, limit: REVOKED_PAGE });
    const page: RevokedTokens = {
      token_hashes: found,
      next_after: found.length === REVOKED_PAGE ? (found.at(-1) ?? null) : null,
    };
    res.json(page);
  };
}
