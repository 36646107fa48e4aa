import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { createApiDocument } from './api-document.ts';
import type { ApiDoor } from './api-document.ts';
import { EXAMPLE_ORIGIN } from './oauth-openapi.ts';

/**
 * `GET /api/openapi.json`: 200, the OpenAPI 3.1 document with this installation's PUBLIC_URL, cookie and examples;
 * 304 if `If-None-Match` has the current version.
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
