import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import type { Query } from '../../platform/database/query.ts';
import { findClient } from './client-record.ts';

const paramsSchema = z.object({ client_id: z.uuid() });

/** `GET /private/clients/{client_id}`: 200 with a ClientAnswer; 404 `not_found`; 503 without Postgres. */
export function clientEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const params = paramsSchema.safeParse(req.params);
    const client = params.success ? await findClient(query, params.data.client_id, new Date()) : undefined;
    if (client === undefined) throw new Problem('not_found');
    res.json(client);
  };
}
