import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { createApiDocument } from './api-document.ts';
import type { ApiDoor } from './api-document.ts';
import { EXAMPLE_ORIGIN } from './oauth-openapi.ts';

/**
 * `GET /api/openapi.json`: 200, the OpenAPI 3.1 document of the public API, with PUBLIC_URL as its server, this
 * Tollgate's cookie and its addresses in the examples; 304 for who has this version.
 */
export function apiDocumentEndpoint(door: ApiDoor): RequestHandler {
  const text = JSON.stringify(createApiDocument(door)).replaceAll(EXAMPLE_ORIGIN, door.serverUrl);
  const json = Buffer.from(text);
  const etag = `"${createHash('sha256').update(json).digest('base64url')}"`;
  return (req, res) => {
    res.set({ 'cache-control': 'no-cache', etag });
    if (req.fresh) res.status(304).end();
    else res.type('json').send(json);
  };
}
