import type { Knex } from 'knex';

/** Changes of plan that took effect before they were paid (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- The invoice of such a change, which is to be paid for the period; null for that of a renewal.
    ALTER TABLE payment_blocks ADD COLUMN stripe_invoice_id text;
  `);
}
