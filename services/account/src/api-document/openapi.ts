import { z } from 'zod';
import type { ApiChapter } from '../http/operation.ts';

export const documentApi: ApiChapter = {
  title: 'This document',
  description: 'The API description.',
  operations: {
    'GET /api/openapi.json': {
      operationId: 'getApiDocument',
      summary: 'Get this document (OpenAPI 3.1)',
      caller: 'anyone',
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
    },
    'GET /api/docs': {
      operationId: 'getApiPage',
      summary: 'Read this document in a browser',
      caller: 'anyone',
      answers: {
        200: {
          description: 'The page.',
          schema: z.string(),
          contentTypes: ['text/html'],
          headers: { 'Content-Security-Policy': 'Allows nothing from other origins.' },
        },
      },
    },
    'GET /api/docs/{file}': {
      operationId: 'getApiPageFile',
      summary: 'Get a script or style of the page',
      caller: 'anyone',
      params: z.object({ file: z.string() }),
      answers: {
        200: {
          description: 'The file.',
          schema: z.string(),
          contentTypes: ['text/javascript', 'text/css'],
          headers: { 'Cache-Control': 'How long the file may be cached.' },
        },
      },
    },
  },
};
