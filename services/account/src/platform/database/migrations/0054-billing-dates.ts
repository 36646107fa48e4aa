import type { Knex } from 'knex';

/** Billing dates that are moved at Stripe (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- Until when Stripe has charged, if it was by an invoice that is no renewal's; null if that was never read. Exclusive.
    ALTER TABLE stripe_subscriptions ADD COLUMN paid_until timestamptz;
  `);
}
