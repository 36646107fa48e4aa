import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { createApiDocument } from './api-document.ts';

/**
 * `GET /api/openapi.json`: 200, the OpenAPI 3.1 document of the public API, with PUBLIC_URL as its server; 304 for
 * who has this version.
 */
export function apiDocumentEndpoint(publicUrl: string): RequestHandler {
  const json = Buffer.from(JSON.stringify(createApiDocument(publicUrl)));
  const etag = `"${createHash('sha256').update(json).digest('base64url')}"`;
  return (req, res) => {
    res.set({ 'cache-control': 'no-cache', etag });
    if (req.fresh) res.status(304).end();
    else res.type('json').send(json);
  };
}
