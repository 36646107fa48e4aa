import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { session } from '../../identity/sessions/require-session.ts';
import { exampleSchema } from './examples-setting.ts';
import type { Example } from './examples-setting.ts';
import type { SchemaSource } from './schema-source.ts';

export type ExplorerNeeds = { explorer: { examples: readonly Example[]; schema: SchemaSource } };

/** What the explorer begins with. */
export const ownerExplorer = {
  title: 'Explorer',
  description: 'Examples of the data API and its schema.',
  operations: [
    operation('GET /api/console/explorer/examples', {
      operationId: 'listExamples',
      summary: 'List examples of operations',
      caller: session,
      answers: {
        200: {
          description: 'The examples that the operator has set, the first one first.',
          schema: z.object({ examples: z.array(exampleSchema) }),
          example: { examples: [{ name: 'A country', query: '{ country(code: "CH") { name } }' }] },
        },
      },
      handle: ({ explorer }: ExplorerNeeds) => ({ examples: [...explorer.examples] }),
    }),
    operation('GET /api/console/explorer/schema', {
      operationId: 'getDataSchema',
      summary: 'Get the schema of the data API',
      description: 'It is free: it doesn’t count as a call. It can be some minutes old.',
      caller: session,
      answers: {
        200: {
          description: 'The schema.',
          schema: z.object({
            introspection: z
              .object({ __schema: z.record(z.string(), z.unknown()) })
              .nullable()
              .meta({
                description: 'The result of introspection; null if it isn’t known.',
              }),
          }),
        },
      },
      handle: async ({ explorer }: ExplorerNeeds) => ({ introspection: await explorer.schema() }),
    }),
  ],
} satisfies Chapter;
