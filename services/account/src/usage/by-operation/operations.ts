import type { Request, Response } from 'express';
import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { token } from '../../access/authentication/bearer.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { Query } from '../../platform/database/query.ts';
import { operationUsageAnswerSchema } from './answers.ts';
import { operationUsageSchema } from './input.ts';
import type { OperationUsageInput } from './input.ts';
import { operationUsage, operationUsageCsv, operationUsageFileName } from './operation-usage.ts';

type Needs = { usageQuery: Query };

const USAGE = {
  description: 'The usage. `format` selects JSON or CSV; without it, `Accept` does.',
  schema: operationUsageAnswerSchema,
  furtherSchemas: { 'text/csv': z.string() },
  headers: { 'Cache-Control': '`no-store`.' },
};

const DESCRIPTION =
  'Which GraphQL operations cost how much, and how long they took, in whole days of UTC of the last 14 months. ' +
  'Operations are told apart by name and document, whatever their literals, which are not stored. Of an account and ' +
  'day, the 100 with the most points are kept, the others together.';

export const usageByOperation = {
  title: 'Usage by operation',
  description: 'Which GraphQL operations use the points.',
  operations: [
    operation('GET /api/usage/operations', {
      operationId: 'getUsageByOperation',
      summary: "Get the caller's usage by GraphQL operation, as JSON or CSV",
      description: DESCRIPTION,
      caller: token,
      query: operationUsageSchema,
      answers: { 200: USAGE },
      problems: ['forbidden', 'not_found'],
      respond: ({ usageQuery }: Needs, call) => send(usageQuery, call.by.account_id, call),
    }),
    operation('GET /api/console/usage/operations', {
      operationId: 'getOwnUsageByOperation',
      summary: 'Get usage by GraphQL operation, as JSON or CSV',
      description: DESCRIPTION,
      caller: session,
      query: operationUsageSchema,
      answers: { 200: USAGE },
      problems: [],
      respond: ({ usageQuery }: Needs, call) => send(usageQuery, call.by.account_id, call),
    }),
  ],
} satisfies Chapter;

async function send(
  query: Query,
  accountId: number,
  { query: input, req, res }: { query: OperationUsageInput; req: Request; res: Response },
): Promise<void> {
  res.vary('accept').set('cache-control', 'no-store');
  const format = input.format ?? (req.accepts(['json', 'text/csv']) === 'text/csv' ? 'csv' : 'json');
  const usage = await operationUsage(query, accountId, input);
  if (format === 'json') {
    res.json(usage);
    return;
  }
  res
    .attachment(operationUsageFileName(usage))
    .type('text/csv; charset=utf-8; header=present')
    .send(Buffer.from(operationUsageCsv(usage), 'utf8'));
}
