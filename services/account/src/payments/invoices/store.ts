import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Page } from '../../http/input/page.ts';
import type { InvoiceState, ProvidedInvoice } from '../subscription-provider.ts';

export type Invoice = {
  invoice_id: number;
  stripe_invoice_id: string;
  account_id: number;
  subscription_id: number | null;
  billing_reason: string | null;
  /** Null for a draft. */
  number: string | null;
  state: InvoiceState;
  currency: string;
  /** With tax and discounts, in Stripe's minor unit. */
  total: number;
  /** Exclusive. */
  period_end: Date | null;
  failed_at: Date | null;
  issued_at: Date;
  paid_at: Date | null;
};

const COLUMNS = `invoice_id, stripe_invoice_id, account_id, subscription_id, billing_reason, number, state, currency,
  total, period_end, failed_at, issued_at, paid_at`;

export async function findInvoice(query: Query, stripeInvoiceId: string): Promise<Invoice | undefined> {
  const rows = await query<Invoice>(
    `SELECT ${COLUMNS} FROM invoices WHERE stripe_invoice_id = :stripeInvoiceId`,
    { stripeInvoiceId },
  );
  return rows[0];
}

export async function findOwnInvoice(
  query: Query,
  accountId: number,
  invoiceId: number,
): Promise<Invoice | undefined> {
  const rows = await query<Invoice>(
    `SELECT ${COLUMNS} FROM invoices WHERE invoice_id = :invoiceId AND account_id = :accountId`,
    { invoiceId, accountId },
  );
  return rows[0];
}

/** The account is locked. */
export async function storeInvoice(
  query: Query,
  about: { account_id: number; subscription_id: number | null },
  { id, ...provided }: ProvidedInvoice,
): Promise<Invoice> {
  const { billing_reason, number, state, currency, total, period_end, hasFailed, issued_at, paid_at } =
    provided;
  const rows = await query<Invoice>(
    `INSERT INTO invoices (stripe_invoice_id, account_id, subscription_id, billing_reason, number, state, currency,
       total, period_end, failed_at, issued_at, paid_at)
     VALUES (:id, :account_id, :subscription_id, :billing_reason, :number, :state, :currency,
       :total, :period_end, CASE WHEN :hasFailed THEN now() END, :issued_at, :paid_at)
     ON CONFLICT (stripe_invoice_id) DO UPDATE SET
       subscription_id = coalesce(invoices.subscription_id, excluded.subscription_id), number = excluded.number,
       state = excluded.state, total = excluded.total, period_end = excluded.period_end,
       failed_at = coalesce(invoices.failed_at, excluded.failed_at), issued_at = excluded.issued_at,
       paid_at = excluded.paid_at
     RETURNING ${COLUMNS}`,
    {
      ...about,
      id,
      billing_reason,
      number,
      state,
      currency,
      total,
      period_end,
      hasFailed,
      issued_at,
      paid_at,
    },
  );
  return singleRow(rows);
}

/** By the number that a customer quotes, which Stripe writes in capitals. Another Stripe account may have given it, too. */
export function findInvoicesByNumber(
  query: Query,
  number: string,
  limit: number,
): Promise<Pick<Invoice, 'account_id' | 'number' | 'state'>[]> {
  return query(
    `SELECT account_id, number, state FROM invoices WHERE number = upper(:number)
     ORDER BY invoice_id DESC LIMIT :limit`,
    { number, limit },
  );
}

/** Without drafts, which aren't due yet. */
export function listInvoices(
  query: Query,
  { account_id }: { account_id: number },
  { limit, before }: Page,
): Promise<Invoice[]> {
  return query<Invoice>(
    `SELECT ${COLUMNS} FROM invoices
     WHERE account_id = :account_id AND state <> 'draft' AND invoice_id < :before
     ORDER BY invoice_id DESC LIMIT :limit`,
    { account_id, limit, before },
  );
}

/** The period of a subscription in which an invoice's time ends. */
export async function findPaidPeriod(
  query: Query,
  { subscription_id, period_end }: Invoice,
): Promise<number | undefined> {
  const rows = await query<{ period_id: number }>(
    `SELECT period_id FROM billing_periods
     WHERE subscription_id = :subscription_id AND started_at < CAST(:period_end AS timestamptz)
       AND ended_at + interval '1 second' >= CAST(:period_end AS timestamptz)`,
    { subscription_id, period_end },
  );
  return rows[0]?.period_id;
}

/** Those that can still be paid. */
export async function listUnsettled(query: Query): Promise<string[]> {
  const rows = await query<{ stripe_invoice_id: string }>(
    `SELECT stripe_invoice_id FROM invoices WHERE state IN ('draft', 'open') ORDER BY invoice_id`,
  );
  return rows.map(({ stripe_invoice_id }) => stripe_invoice_id);
}
