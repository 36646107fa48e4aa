import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { idQueryField } from '../../http/input/fields.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query } from '../../platform/database/query.ts';
import { findComparison } from './comparison.ts';

/** Of its own pool, with a longer timeout. */
type Needs = { usageQuery: Query };

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 7;

const day = z.iso.date('must be a date, as 2026-07-01').optional();

const count = z.int().min(0);

const comparisonSchema = z
  .object({
    from: z.iso.date(),
    to: z.iso.date().meta({ description: 'Inclusive.' }),
    operations: z
      .array(
        z.object({
          api_version: z.enum(['v1', 'v2']),
          hash: z.string().meta({ description: 'SHA-256 of the document without its literals.' }),
          name: z.string().nullable(),
          requests: count.meta({ description: 'With an estimate, and a price that the data API stated.' }),
          points: count.meta({ description: 'What they cost.' }),
          estimated_points: count,
          exceeding_requests: count.meta({ description: 'Those that cost more than their estimate.' }),
          excess_points: count.meta({ description: 'By how much, together.' }),
          document: z
            .string()
            .nullable()
            .meta({ description: 'Without its literals; null if it is not kept.' }),
        }),
      )
      .meta({ description: 'The 500 whose estimates are furthest from their prices.' }),
  })
  .meta({ id: 'PriceComparison' });

export const operatorPriceComparison = {
  title: 'Estimates and prices',
  description: 'Whether the weights of the GraphQL schema tell what the data API charges.',
  operations: [
    operation('GET /private/price-comparison', {
      operationId: 'comparePrices',
      summary: 'Compare estimates with the prices that the data API stated',
      description:
        'By operation, over HTTP, in whole days of UTC. Responses with a status of 400 or above, batches of different ' +
        'operations and operations that are counted together are left out.',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        from: day.meta({ description: 'Default: 6 days before `to`.' }),
        to: day.meta({ description: 'Inclusive. Default: today.' }),
        account_id: idQueryField.optional().meta({ description: 'Only what this account pays for.' }),
      }),
      answers: { 200: { description: 'The comparison.', schema: comparisonSchema } },
      handle: async ({ usageQuery }: Needs, { query: input }) => {
        const to = input.to ?? dayOf(Date.now());
        const from = input.from ?? dayOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS);
        const account_id = input.account_id ?? null;
        return { from, to, operations: await findComparison(usageQuery, { from, to, account_id }) };
      },
    }),
  ],
} satisfies Chapter;

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, '2026-07-01'.length);
}
