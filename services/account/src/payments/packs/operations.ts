import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { nameSchema } from '../../http/input/name.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { amountFault, decimalsOf } from '../money/currencies.ts';
import { insertPack, listPacks, lockPack, withdraw } from './store.ts';

type Needs = { query: Query; transact: Transact };

const packAnswerSchema = z
  .object({
    pack_id: id,
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

const newPackSchema = z
  .strictObject({
    name: nameSchema,
    points: z.int('must be a whole number').min(1).max(Number.MAX_SAFE_INTEGER),
    currency: z
      .string()
      .refine(
        (value) => decimalsOf(value) !== undefined,
        'must be a lowercase currency code that Stripe supports, such as eur',
      ),
    unit_amount: z.int('must be a whole number'),
    tax_behavior: z.enum(['exclusive', 'inclusive']).default('exclusive'),
    expires_after_days: z.int('must be a whole number').min(1).max(36_500).nullable().default(null),
  })
  .superRefine(({ unit_amount, currency }, context) => {
    const message = amountFault(unit_amount, currency);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['unit_amount'], message });
  });

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
      handle: async ({ transact }: Needs, { by: { actor }, body }) => {
        const pack = await transact(async (inside) => {
          const made = await insertPack(inside, body);
          const { pack_id, name, points, currency, unit_amount } = made;
          const details = { pack_id, name, points, currency, unit_amount };
          const about = { application_id: null, account_id: null };
          await recordAudit(inside, { ...actor, ...about, action: 'pack_created', details });
          return made;
        });
        return new Reply(201, pack);
      },
    }),
    operation('POST /private/packs/{pack_id}/withdraw', {
      operationId: 'withdrawPack',
      summary: 'Take a pack off sale',
      description: 'Purchases already started are granted as sold.',
      caller: operator,
      roles: ['admin'],
      params: ofPack,
      answers: { 200: { description: 'The pack.', schema: packAnswerSchema } },
      problems: ['not_found'],
      handle: ({ transact }: Needs, { by: { actor }, params: { pack_id } }) =>
        transact(async (inside) => {
          const pack = await lockPack(inside, pack_id, 'UPDATE');
          if (pack === undefined) throw new Problem('not_found');
          if (pack.withdrawn_at !== null) return pack;
          const about = { application_id: null, account_id: null };
          await recordAudit(inside, { ...actor, ...about, action: 'pack_withdrawn', details: { pack_id } });
          return withdraw(inside, pack_id);
        }),
    }),
  ],
} satisfies Chapter;
