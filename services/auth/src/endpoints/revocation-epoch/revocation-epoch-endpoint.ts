import { json } from 'express';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { clientChangeSchema, revocationEpochSchema } from '@tollgate/contracts/revocation';
import { Problem } from '@tollgate/http/problem';
import type { ClientDirectory } from '../../client/directory.ts';

const paramsSchema = z.object({ client_id: z.uuid().toLowerCase() });

/** Compressed bodies are refused, because a small bomb would pass the limit. */
export const readRevocationEpoch = json({ limit: 1_024, inflate: false });

/**
 * `PUT /private/clients/{client_id}/revocation-epoch?change=…` (ClientChange, optional) with JSON
 * `{"revocation_epoch": n}`: account reports a change of the client's record. With the 204, tokens of smaller epochs
 * are dead and the cached record is gone. Idempotent; the epoch never goes down.
 * Errors: invalid_request 400, unsupported_media_type 415, payload_too_large 413, service_unavailable 503.
 */
export function revocationEpochEndpoint(clients: Pick<ClientDirectory, 'change'>): RequestHandler {
  return async (req, res) => {
    if (req.is('application/json') === false) {
      throw new Problem('unsupported_media_type', { detail: 'The content type must be application/json.' });
    }
    const params = paramsSchema.safeParse(req.params);
    const body = revocationEpochSchema.safeParse(req.body);
    if (!params.success || !body.success) {
      throw new Problem('invalid_request', { detail: 'The client_id or the revocation_epoch is malformed.' });
    }
    const change = clientChangeSchema.safeParse(req.query);
    await clients.change(
      params.data.client_id,
      body.data.revocation_epoch,
      change.success ? change.data : null,
    );
    res.status(204).end();
  };
}
