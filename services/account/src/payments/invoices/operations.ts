import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { postponeBlocks } from '../../billing/periods/payment-blocks.ts';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { secondField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { billingSession } from '../../identity/sessions/require-session.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { decimalsOf } from '../../platform/money/currencies.ts';
import { findOwnInvoice, listInvoices } from './store.ts';
import type { Invoice } from './store.ts';

/** What operations do about invoices; there is none with PAYMENTS=none. */
export type Invoices = {
  /** The page of an invoice, from the provider. @throws {Problem} not_found; payments_unavailable */
  linkOf: (invoice: Invoice) => Promise<string>;
  /** Makes what Stripe lacks. @throws {Problem} payments_unavailable */
  sync: () => Promise<{ plan_prices: number; packs: number; portal_configuration_id: string }>;
};

type Needs = { query: Query; transact: Transact; invoices: Invoices | null };

const invoiceSchema = z
  .object({
    invoice_id: id,
    number: z.string().nullable(),
    state: z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']),
    currency: z.string(),
    decimals: z.int().meta({ description: 'Decimals of amounts in this currency.' }),
    total: z.int().meta({ description: 'With tax and discounts, in the minor unit.' }),
    has_failed: z.boolean().meta({ description: 'Whether it is open and a payment of it failed.' }),
    issued_at: instant,
    paid_at: instant.nullable(),
  })
  .meta({ id: 'Invoice' });

export const ownerInvoices = {
  title: 'Invoices',
  description: 'Invoices of the signed-in account. Stripe has their pages and PDFs.',
  operations: [
    operation('GET /api/console/invoices', {
      operationId: 'listInvoices',
      summary: 'List invoices, newest first',
      caller: billingSession,
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ invoices: z.array(invoiceSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { by: { account_id }, query }) => {
        const found = await listInvoices(read, { account_id }, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ invoice_id }) => invoice_id);
        return { invoices: rows.map(answerOf), next_cursor };
      },
    }),
    operation('POST /api/console/invoices/{invoice_id}/link', {
      operationId: 'linkInvoice',
      summary: 'Get the page of an invoice',
      description:
        'The page shows the invoice and its PDF, and takes a payment while it is open. The link expires.',
      caller: billingSession,
      params: z.object({ invoice_id: idParameter }),
      answers: { 200: { description: 'The page.', schema: z.object({ url: z.string() }) } },
      problems: ['not_found', 'payments_unavailable'],
      handle: async ({ query, invoices }: Needs, { by: { account_id }, params: { invoice_id } }) => {
        const found = await findOwnInvoice(query, account_id, invoice_id);
        if (found === undefined || invoices === null) throw new Problem('not_found');
        return { url: await invoices.linkOf(found) };
      },
    }),
  ],
} satisfies Chapter;

export const operatorPayments = {
  title: 'Payments',
  description: 'What Stripe must have, and payments that are due.',
  operations: [
    operation('POST /private/payments/sync', {
      operationId: 'syncPayments',
      summary: 'Create prices and the portal at Stripe',
      description:
        "Creates what Stripe lacks: a price for each plan and pack on sale, and the customer portal's configuration.",
      caller: operator,
      roles: ['admin'],
      answers: {
        200: {
          description: 'How many there are.',
          schema: z.object({
            plan_prices: z.int(),
            packs: z.int(),
            portal_configuration_id: z.string(),
          }),
        },
      },
      problems: ['not_found', 'payments_unavailable'],
      handle: ({ invoices }: Needs) => {
        if (invoices === null) throw new Problem('not_found');
        return invoices.sync();
      },
    }),
    operation('POST /private/accounts/{account_id}/payment-block/postpone', {
      operationId: 'postponePaymentBlock',
      summary: 'Give an account more time to pay',
      description:
        'Calls pass until then although a payment is due. Changes nothing about a block by an operator, and never ' +
        'shortens the time.',
      caller: operator,
      roles: ['finance'],
      params: z.object({ account_id: idParameter }),
      body: z.strictObject({ until: secondField }),
      example: { until: '2026-12-31T00:00:00Z' },
      answers: { 204: { description: 'Postponed.' } },
      problems: ['not_found'],
      handle: ({ transact }: Needs, { by: { actor }, params: { account_id }, body: { until } }) =>
        transact(async (query) => {
          const postponed = await postponeBlocks(query, account_id, until);
          if (postponed.length === 0) {
            throw new Problem('not_found', { detail: 'No payment of the account is due.' });
          }
          const about = { action: 'payment_block_postponed', application_id: null, account_id } as const;
          const change = changeOf(
            ['payment_blocks'],
            { payment_blocks: postponed.map(({ blocked_before }) => ({ blocks_at: blocked_before })) },
            { payment_blocks: postponed.map(({ blocks_at }) => ({ blocks_at })) },
          );
          await recordAudit(query, { ...actor, ...about, details: { until }, change });
        }),
    }),
  ],
} satisfies Chapter;

function answerOf({ invoice_id, number, state, currency, total, failed_at, issued_at, paid_at }: Invoice) {
  const decimals = decimalsOf(currency) ?? 2;
  const has_failed = state === 'open' && failed_at !== null;
  return { invoice_id, number, state, currency, decimals, total, has_failed, issued_at, paid_at };
}
