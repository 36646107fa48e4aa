import { json } from 'express';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { clientChangeSchema, revocationEpochSchema } from '@tollgate/contracts/revocation';
import { Problem } from '@tollgate/http/problem';
import type { ClientDirectory } from '../../client/directory.ts';

const paramsSchema = z.object({ client_id: z.uuid().toLowerCase() });

/** The body is some 30 bytes. A compressed one is refused: a small bomb would pass the limit. */
export const readRevocationEpoch = json({ limit: 1_024, inflate: false });

/**
 * `PUT /private/clients/{client_id}/revocation-epoch?change=…` (ClientChange, or without a query) with JSON `{"revocation_epoch": n}`: account tells that
 * the client's record has changed. Tokens issued under a smaller epoch are dead when this is answered, and what
 * was cached of the client is gone. 204; idempotent; a smaller epoch than the known one raises nothing.
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
      throw new Problem('invalid_request', { detail: 'The client id or the revocation_epoch is malformed.' });
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
