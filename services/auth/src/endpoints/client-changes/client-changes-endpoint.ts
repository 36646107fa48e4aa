import { json } from 'express';
import type { RequestHandler } from 'express';
import { clientChangeSchema } from '@tollgate/contracts/client-change';
import { Problem } from '@tollgate/http/problem';
import type { ClientDirectory } from '../../client/directory.ts';

/** Compressed bodies are refused, because a small bomb would pass the limit. */
export const readClientChange = json({ limit: 1_024, inflate: false });

/**
 * `POST /private/client-changes` with a ClientChange: account reports that a client has changed. With the 204, tokens
 * of smaller epochs are dead and the cached record is gone. Idempotent; the epoch never goes down.
 * Errors: invalid_request 400, unsupported_media_type 415, payload_too_large 413, service_unavailable 503.
 */
export function clientChangesEndpoint(clients: Pick<ClientDirectory, 'change'>): RequestHandler {
  return async (req, res) => {
    if (req.is('application/json') === false) {
      throw new Problem('unsupported_media_type', { detail: 'The content type must be application/json.' });
    }
    const change = clientChangeSchema.safeParse(req.body);
    if (!change.success) throw new Problem('invalid_request', { detail: 'The change is malformed.' });
    await clients.change(change.data);
    res.status(204).end();
  };
}
