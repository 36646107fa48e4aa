import { z } from 'zod';
import type { ApiChapter } from '../http/operation.ts';

/** The document's own endpoints. */
export const documentApi: ApiChapter = {
  title: 'This document',
  description: 'The API by itself.',
  operations: {
    'GET /api/openapi.json': {
      operationId: 'getApiDocument',
      summary: 'The API as OpenAPI 3.1',
      caller: 'anyone',
      answers: {
        200: {
          description: 'This document.',
          schema: z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }),
          headers: {
            ETag: 'Of this version.',
            'Cache-Control': '`no-cache`: ask whether it is still the one.',
          },
        },
        304: { description: 'The one that the caller has by `If-None-Match`.' },
      },
    },
    'GET /api/docs': {
      operationId: 'getApiPage',
      summary: 'The same to read, in a browser',
      caller: 'anyone',
      answers: {
        200: {
          description: 'The page.',
          schema: z.string(),
          contentTypes: ['text/html'],
          headers: { 'Content-Security-Policy': 'It loads nothing from elsewhere.' },
        },
      },
    },
    'GET /api/docs/{file}': {
      operationId: 'getApiPageFile',
      summary: 'A script or style of that page',
      caller: 'anyone',
      params: z.object({ file: z.string() }),
      answers: {
        200: {
          description: 'The file.',
          schema: z.string(),
          contentTypes: ['text/javascript', 'text/css'],
          headers: { 'Cache-Control': 'How long it may be kept.' },
        },
      },
    },
  },
};
