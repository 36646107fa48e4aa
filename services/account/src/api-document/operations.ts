import { z } from 'zod';
import { anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { createHash } from 'node:crypto';
import { EXAMPLE_ORIGIN } from '@tollgate/contracts/oauth-api';
import { Problem } from '@tollgate/http/problem';
import type { ApiDocument } from '@tollgate/operation/api-document';
import { PAGE, PAGE_POLICY } from './page/page.ts';
import { PAGE_FILES, loadPageFile } from './page/page-files.ts';

export const documentOperations = {
  title: 'This document',
  description: 'The API description.',
  operations: [
    operation('GET /api/openapi.json', {
      operationId: 'getApiDocument',
      summary: 'Get this document (OpenAPI 3.1)',
      caller: anyone,
      answers: {
        200: {
          description: 'This document.',
          schema: z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }),
          headers: {
            ETag: 'Identifies the version of the document.',
            'Cache-Control': '`no-cache`: revalidate before use.',
          },
        },
        304: { description: 'Not modified since the version in `If-None-Match`.' },
      },
      respond: ({ apiDocument }: { apiDocument: () => DocumentText }, { req, res }) => {
        const { json, etag } = apiDocument();
        res.set({ 'cache-control': 'no-cache', etag });
        if (req.fresh) res.status(304).end();
        else res.type('json').send(json);
      },
    }),
    operation('GET /api/docs', {
      operationId: 'getApiPage',
      summary: 'Read this document in a browser',
      caller: anyone,
      answers: {
        200: {
          description: 'The page.',
          schema: z.string(),
          contentTypes: ['text/html'],
          headers: { 'Content-Security-Policy': 'Allows nothing from other origins.' },
        },
      },
      respond: (_needs: unknown, { res }) => {
        res.set({ 'cache-control': 'no-cache', 'content-security-policy': PAGE_POLICY });
        res.type('html').send(PAGE);
      },
    }),
    operation('GET /api/docs/{file}', {
      operationId: 'getApiPageFile',
      summary: 'Get a script or style of the page',
      caller: anyone,
      params: z.object({ file: z.string() }),
      answers: {
        200: {
          description: 'The file.',
          schema: z.string(),
          contentTypes: ['text/javascript', 'text/css'],
          headers: { 'Cache-Control': 'How long the file may be cached.' },
        },
      },
      // Kept for good: its address has its version.
      respond: async (_needs: unknown, { params: { file }, req, res }) => {
        if (!isPageFile(file)) throw new Problem('not_found');
        const { plain, gzipped } = await loadPageFile(file);
        res.set({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' });
        res.type(PAGE_FILES[file]);
        if (req.acceptsEncodings('gzip') === 'gzip') res.set('content-encoding', 'gzip').send(gzipped);
        else res.send(plain);
      },
    }),
  ],
} satisfies Chapter;

/** The document as it is sent. */
export type DocumentText = { json: Buffer; etag: string };

/**
 * With this installation's URL in the examples. It is made when it is first asked for, in some 100 ms: a tenth of what
 * account's start would cost more.
 */
export function documentText(makeDocument: () => ApiDocument, serverUrl: string): () => DocumentText {
  let made: DocumentText | undefined;
  return () => {
    if (made === undefined) {
      const json = Buffer.from(JSON.stringify(makeDocument()).replaceAll(EXAMPLE_ORIGIN, serverUrl));
      made = { json, etag: `"${createHash('sha256').update(json).digest('base64url')}"` };
    }
    return made;
  };
}

function isPageFile(name: string): name is keyof typeof PAGE_FILES {
  return Object.hasOwn(PAGE_FILES, name);
}
