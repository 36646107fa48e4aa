import { z } from 'zod';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { createPack, withdrawPack } from './changes.ts';
import { newPackSchema } from './input.ts';
import { listPacks } from './store.ts';

type Needs = {
  query: Query;
  transact: Transact;
  payments: { closeWithdrawnPages: () => Promise<void> } | null;
};

const packAnswerSchema = z
  .object({
    pack_id: id,
    key: z.string().meta({ description: 'What files of plans name it by.' }),
    name: z.string(),
    points: id,
    currency: z.string(),
    unit_amount: z.int().meta({ description: "In the currency's minor unit, as Stripe writes it." }),
    tax_behavior: z.enum(['exclusive', 'inclusive']),
    expires_after_days: z.int().nullable().meta({ description: 'Null if its points never expire.' }),
    stripe_price_id: z.string().nullable().meta({ description: 'Null until it is first bought.' }),
    withdrawn_at: instant.nullable(),
    created_at: instant,
  })
  .meta({ id: 'Pack' });

const ofPack = z.object({ pack_id: idParameter });

export const operatorPacks = {
  title: 'Packs',
  description:
    'Points that customers can buy in addition to the plan. A pack is never edited: withdraw it, and create another.',
  operations: [
    operation('GET /private/packs', {
      operationId: 'listPacks',
      summary: 'List packs, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ packs: z.array(packAnswerSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query }) => {
        const found = await listPacks(read, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ pack_id }) => pack_id);
        return { packs: rows, next_cursor };
      },
    }),
    operation('POST /private/packs', {
      operationId: 'createPack',
      summary: 'Create a pack',
      caller: operator,
      roles: ['admin'],
      body: newPackSchema,
      example: { name: '10,000 points', points: 10_000, currency: 'eur', unit_amount: 1_900 },
      answers: { 201: { description: 'The pack.', schema: packAnswerSchema } },
      handle: async ({ transact }: Needs, { by, body }) =>
        new Reply(201, await transact((inside) => createPack(inside, body, by.actor))),
    }),
    operation('POST /private/packs/{pack_id}/withdraw', {
      operationId: 'withdrawPack',
      summary: 'Take a pack off sale',
      description:
        'Its open payment pages are closed. A purchase that is paid all the same is granted as it was sold.',
      caller: operator,
      roles: ['admin'],
      params: ofPack,
      answers: { 200: { description: 'The pack.', schema: packAnswerSchema } },
      problems: ['not_found'],
      handle: async ({ transact, payments }: Needs, { by, params: { pack_id } }) => {
        const pack = await transact((inside) => withdrawPack(inside, pack_id, by.actor));
        await payments?.closeWithdrawnPages();
        return pack;
      },
    }),
  ],
} satisfies Chapter;
